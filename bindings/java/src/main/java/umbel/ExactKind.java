// SPDX-License-Identifier: MIT

package umbel;

import static umbel.Header.insist;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Fingerprints of the members, and verdicts, with a seed, about all known keys that the fingerprints find. */
record ExactKind(Ribbon prints, Ribbon verdicts, long seed) implements Kind {

    static Kind of(ByteBuffer own, int hashes, long payloadLength) throws IOException {
        insist(hashes == 1, "exact: hashes");
        Ribbon.number(own, 10); // known keys that are not members
        int seed = Ribbon.next(own);
        int length = Ribbon.next(own);
        insist(length <= own.remaining(), "exact: parameters");
        Ribbon prints = Ribbon.of(own.slice(own.position(), length), false);
        Ribbon verdicts = Ribbon.of(own.position(own.position() + length), true);
        insist(verdicts.isEmpty() ? prints.isEmpty() && seed == 0 : verdicts.isOneBit(), "exact: verdicts");
        long marks = verdicts.placeMarks(prints.placeMarks(0));
        insist(verdicts.placeTables(prints.placeTables(marks)) == payloadLength,
                "exact: levels and payload length disagree");
        return new ExactKind(prints, verdicts, seed);
    }

    @Override
    public String name() {
        return "exact";
    }

    @Override
    public boolean has(Payload payload, byte[] key, long seed) throws IOException {
        long hash = Xxh3.hash(key, seed);
        if (!prints.isEmpty() && !prints.agrees(payload, hash)) {
            return false;
        }
        return verdicts.agrees(payload, Kinds.scramble(hash + (this.seed + 1) * Kinds.GOLDEN));
    }
}
