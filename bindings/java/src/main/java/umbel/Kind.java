// SPDX-License-Identifier: MIT

package umbel;

import java.io.IOException;

/** Where a key's bits are. */
interface Kind {
    String name();

    boolean has(Payload payload, byte[] key, long seed) throws IOException;
}
