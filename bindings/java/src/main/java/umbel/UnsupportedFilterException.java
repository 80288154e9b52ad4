// SPDX-License-Identifier: MIT

package umbel;

import java.io.IOException;

/** The file is of a version or kind, or has a recipe or a secret, that this package does not read. */
public final class UnsupportedFilterException extends IOException {
    private static final long serialVersionUID = 1;

    UnsupportedFilterException(String what) {
        super(what + ": not supported by this reader");
    }
}
