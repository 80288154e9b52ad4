// SPDX-License-Identifier: MIT

package umbel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A Bloom filter that umbel wrote (a .umb file). A "no" is certain; a "yes" is wrong at the rate that the
 * filter was planned for.
 *
 * <pre>{@code
 * BloomFile seen = BloomFile.open(Path.of("seen.umb"));
 * if (!seen.mightContain("https://example.org/")) {
 *     System.out.println("not seen before");
 * }
 * }</pre>
 *
 * <p>This package only reads: the kinds blocked, classic, line, static, tight and exact, with and without
 * exceptions, under the recipes {@code line} and {@code domain}. Anything else (keyed filters, kinds that grow or
 * count, other recipes) is refused with an {@link UnsupportedFilterException} that names it; damage is a
 * {@link CorruptFilterException}. No bytes of a file lead to another exception, or to more memory than they
 * amount to.
 *
 * <p>It does not read the deltas that {@code umbel apply} puts beside a list, in {@code FILE.deltas}: {@link #open}
 * refuses a list that they follow, while the other ways to make a filter see only the base and answer for that.
 *
 * <p>A filter never changes, so any number of threads may ask it.
 */
public final class BloomFile {
    private final Header header;
    private final Payload payload;

    private BloomFile(Header header, Payload payload) {
        this.header = header;
        this.payload = payload;
    }

    /**
     * Reads a file into memory and checks all of it. One of 2 GiB or more, for which Java has no array, stays
     * where it is, as with {@link #of(ReadAt, long)}.
     *
     * @param file its path
     * @return the filter
     * @throws CorruptFilterException if it is damaged
     * @throws UnsupportedFilterException if this package does not read it, or there are deltas beside it, so that
     *     it alone is not the list
     * @throws IOException if it cannot be read
     */
    public static BloomFile open(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file);
        boolean keep = false;
        try {
            Path deltas = file.resolveSibling(file.getFileName() + ".deltas");
            Header.support(!Files.exists(deltas), "the deltas in " + deltas);
            long size = channel.size();
            ReadAt source = (offset, length) -> read(channel, offset, length);
            keep = size > Payload.LARGEST_ARRAY;
            return keep ? of(source, size) : of(ByteBuffer.wrap(source.read(0, (int) size)));
        } finally {
            if (!keep) {
                channel.close();
            }
        }
    }

    /**
     * Checks the bytes of a file, between the buffer's position and its limit, and makes a filter of them. They
     * are not copied, so they must not change; they may be a mapped file. Lookups in such a filter never fail.
     *
     * @param file the bytes
     * @return the filter
     * @throws CorruptFilterException if they are damaged
     * @throws UnsupportedFilterException if this package does not read them
     */
    public static BloomFile of(ByteBuffer file) throws IOException {
        ByteBuffer all = file.slice().order(ByteOrder.LITTLE_ENDIAN);
        ReadAt source = (offset, length) -> {
            byte[] bytes = new byte[length];
            all.get((int) offset, bytes);
            return bytes;
        };
        Header header = Header.read(source, all.capacity());
        ByteBuffer sums = header.readSums(source);
        for (int i = 0; i < sums.capacity() / 8; i++) {
            header.readPiece(source, i, sums);
        }
        ByteBuffer bits = all.slice((int) header.payloadAt, (int) header.payloadLength).order(ByteOrder.LITTLE_ENDIAN);
        header.checkLastByte(bits);
        return new BloomFile(header, new Payload.InMemory(bits));
    }

    /**
     * Makes a filter of a file that is not in memory. Opening it reads the header and, for each MiB of the
     * payload, a checksum of 8 bytes. A lookup then reads what it needs: 32 bytes at once in blocked filters, 64
     * in those of kind line. It checks each MiB before it first uses a part of it, and reads all of that MiB to do
     * so. The file must not change.
     *
     * @param file what reads it
     * @param size its bytes
     * @return the filter
     * @throws CorruptFilterException if it is damaged
     * @throws UnsupportedFilterException if this package does not read it
     * @throws IOException if it cannot be read
     */
    public static BloomFile of(ReadAt file, long size) throws IOException {
        Header header = Header.read(file, size);
        return new BloomFile(header, new Payload.Elsewhere(header, file, header.readSums(file)));
    }

    /**
     * The same, but the payload is not compared with its checksums. Damage then gives wrong answers. This is for
     * sources that are checked in another way, where a lookup should read as little as possible.
     *
     * @param file what reads it
     * @param size its bytes
     * @return the filter
     * @throws IOException as above
     */
    public static BloomFile unchecked(ReadAt file, long size) throws IOException {
        Header header = Header.read(file, size);
        return new BloomFile(header, new Payload.Elsewhere(header, file, null));
    }

    /**
     * Whether the text may be in the filter. Under the recipe {@code line} the text is the key. Under
     * {@code domain} it may be a name, a URL or a host with a port, and names below a listed one are found as well.
     *
     * @param text the text
     * @return false: it is certainly not
     * @throws UncheckedIOException if the file cannot be read, or is damaged: never, if it is in memory
     */
    public boolean mightContain(byte[] text) {
        try {
            if (!header.domains) {
                return has(text);
            }
            byte[] name = Domains.nameOf(text);
            while (name.length > 0 && !has(name)) {
                name = Domains.parentOf(name);
            }
            return name.length > 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * {@link #mightContain(byte[])} for the UTF-8 of a text.
     *
     * @param text the text
     * @return false: it is certainly not in the filter
     * @throws UncheckedIOException as above
     */
    public boolean mightContain(String text) {
        return mightContain(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * {@link #mightContain(String)} for each of these texts.
     *
     * @param texts the texts
     * @return an answer for each
     * @throws UncheckedIOException as above
     */
    public boolean[] mightContainMany(List<String> texts) {
        boolean[] found = new boolean[texts.size()];
        int i = 0;
        for (String text : texts) {
            found[i++] = mightContain(text);
        }
        return found;
    }

    /**
     * The filter's kind.
     *
     * @return blocked, classic, line, static, tight or exact
     */
    public String kind() {
        return header.kind.name();
    }

    /**
     * How texts become keys.
     *
     * @return line or domain
     */
    public String recipe() {
        return header.domains ? "domain" : "line";
    }

    private boolean has(byte[] key) throws IOException {
        if (!header.kind.has(payload, key, header.seed)) {
            return false;
        }
        long[] exceptions = header.exceptions;
        return exceptions.length == 0
                || Arrays.binarySearch(exceptions, Xxh3.hash(key, header.seed) ^ Long.MIN_VALUE) < 0;
    }

    private static byte[] read(FileChannel channel, long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, offset + bytes.position()) < 0) {
                throw new CorruptFilterException("the file became shorter");
            }
        }
        return bytes.array();
    }
}
