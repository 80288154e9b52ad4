// SPDX-License-Identifier: MIT

package umbel;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The bits of a filter, wherever they are. */
abstract class Payload {
    static final int PIECE = 1 << 20;
    static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

    /** A buffer that holds these bytes of the payload, which are within it, from {@link #index} on. */
    abstract ByteBuffer bytes(long at, int length) throws IOException;

    abstract int index(long at);

    static final class InMemory extends Payload {
        private final ByteBuffer all;

        InMemory(ByteBuffer all) {
            this.all = all;
        }

        @Override
        ByteBuffer bytes(long at, int length) {
            return all;
        }

        @Override
        int index(long at) {
            return (int) at;
        }
    }

    /** Pieces are checked before they are first used, unless there are no sums. */
    static final class Elsewhere extends Payload {
        private final Header header;
        private final ReadAt file;
        private final ByteBuffer sums;
        private final AtomicIntegerArray checked;

        Elsewhere(Header header, ReadAt file, ByteBuffer sums) {
            this.header = header;
            this.file = file;
            this.sums = sums;
            this.checked = new AtomicIntegerArray(sums == null ? 0 : sums.capacity() / 8);
        }

        @Override
        ByteBuffer bytes(long at, int length) throws IOException {
            for (long i = at / PIECE; sums != null && i * PIECE < at + length; i++) {
                if (checked.get((int) i) != 0) {
                    continue;
                }
                byte[] piece = header.readPiece(file, i, sums);
                checked.set((int) i, 1);
                long from = at - i * PIECE;
                if (from >= 0 && from + length <= piece.length) {
                    return littleEndian(piece).slice((int) from, length).order(ByteOrder.LITTLE_ENDIAN);
                }
            }
            return littleEndian(read(file, header.payloadAt + at, length));
        }

        @Override
        int index(long at) {
            return 0;
        }
    }

    static ByteBuffer littleEndian(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    static byte[] read(ReadAt file, long at, int length) throws IOException {
        byte[] bytes = file.read(at, length);
        if (bytes.length != length) {
            throw new IOException("read " + bytes.length + " bytes at " + at + " instead of " + length);
        }
        return bytes;
    }
}
