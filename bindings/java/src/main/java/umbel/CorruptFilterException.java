// SPDX-License-Identifier: MIT

package umbel;

import java.io.IOException;

/** The file is damaged, incomplete or contradicts itself, or is not umbel's. */
public final class CorruptFilterException extends IOException {
    private static final long serialVersionUID = 1;

    CorruptFilterException(String what) {
        super(what + ": damaged or not an umbel file");
    }
}
