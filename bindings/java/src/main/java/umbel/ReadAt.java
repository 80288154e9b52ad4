// SPDX-License-Identifier: MIT

package umbel;

import java.io.IOException;

/** A file that is not in memory: on a disk, on a web server, in a database. */
@FunctionalInterface
public interface ReadAt {
    /**
     * Reads bytes of the file. Threads may call it at the same time.
     *
     * @param offset where they begin
     * @param length how many there are, all of them within the file
     * @return exactly that many bytes
     * @throws IOException if they cannot be read
     */
    byte[] read(long offset, int length) throws IOException;
}
