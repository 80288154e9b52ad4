// SPDX-License-Identifier: MIT

package umbel;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.Test;

public class BloomFileTest {
    private static final Path PLANETS = Path.of("src/test/resources/planets.umb");

    private static List<String[]> rows(String table) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("../../tests/golden", table));
        return lines.stream().skip(1).map(line -> line.split("\t", -1)).toList();
    }

    /** A file in memory that counts how often it is read. */
    private static ReadAt counted(byte[] file, AtomicLong reads) {
        return (offset, length) -> {
            reads.incrementAndGet();
            if (offset + length > file.length) {
                throw new EOFException();
            }
            return Arrays.copyOfRange(file, (int) offset, (int) offset + length);
        };
    }

    private static ReadAt of(byte[] file) {
        return counted(file, new AtomicLong());
    }

    @Test
    public void hashesAreThoseOfXxhash() throws IOException {
        List<String[]> rows = rows("native/xxh3.tsv");
        assertTrue(rows.size() > 100);
        for (String[] row : rows) {
            byte[] key = new byte[Integer.parseInt(row[0])];
            for (int i = 0; i < key.length; i++) {
                key[i] = (byte) (i * 167 + key.length);
            }
            long seed = Long.parseUnsignedLong(row[1], 16);
            assertEquals(row[0], Long.parseUnsignedLong(row[2], 16), Xxh3.hash(key, seed));
            Xxh3.Wide wide = Xxh3.wide(key, seed);
            assertEquals(row[0], Long.parseUnsignedLong(row[3], 16), wide.high());
            assertEquals(row[0], Long.parseUnsignedLong(row[4], 16), wide.low());
        }
    }

    /** A compiler that comes into effect in the middle must not change what a piece's checksum is. */
    @Test
    public void compiledHashesAreTheSame() {
        byte[] piece = new byte[12_000];
        new Random(2).nextBytes(piece);
        long want = Xxh3.hash(piece, 3);
        for (int i = 0; i < 60_000; i++) {
            assertEquals(want, Xxh3.hash(piece, 3));
        }
    }

    @Test
    public void hostsAreThoseOfBrowsers() throws IOException {
        int asked = 0;
        for (String[] row : rows("recipes/hosts.tsv")) {
            if (row[1].equals("key lookup") && !row[3].equals("empty")) {
                byte[] want = row[4].equals("key") ? HexFormat.of().parseHex(row[5]) : new byte[0];
                assertArrayEquals(row[3], want, Domains.nameOf(HexFormat.of().parseHex(row[3])));
                asked++;
            }
        }
        assertTrue(asked > 200);
    }

    @Test
    public void readersAgree() throws IOException {
        byte[] file = Files.readAllBytes(PLANETS);
        BloomFile filter = BloomFile.open(PLANETS);
        assertEquals("line", filter.kind());
        assertEquals("line", filter.recipe());
        BloomFile mapped;
        try (FileChannel channel = FileChannel.open(PLANETS)) {
            mapped = BloomFile.of(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
        }
        AtomicLong reads = new AtomicLong();
        BloomFile checked = BloomFile.of(counted(file, reads), file.length);
        BloomFile unchecked = BloomFile.unchecked(of(file), file.length);
        long opened = reads.get();
        for (int i = 0; i < 1000; i++) {
            boolean want = filter.mightContain("key" + i);
            assertEquals(want, mapped.mightContain("key" + i));
            assertEquals(want, checked.mightContain("key" + i));
            assertEquals(want, unchecked.mightContain("key" + i));
        }
        assertEquals(1000, reads.get() - opened);
        assertArrayEquals(new boolean[] {true, false}, filter.mightContainMany(List.of("Mars", "Pluto")));
    }

    @Test
    public void aBufferMayBeginAnywhere() throws IOException {
        byte[] file = Files.readAllBytes(PLANETS);
        ByteBuffer buffer = ByteBuffer.allocateDirect(file.length + 10).position(5).put(file).flip().position(5);
        assertTrue(BloomFile.of(buffer).mightContain("Mars"));
        assertEquals(5, buffer.position());
    }

    @Test
    public void everyCutAndEveryChangeIsNoticed() throws IOException {
        byte[] good = Files.readAllBytes(PLANETS);
        for (int n = 0; n < good.length; n++) {
            byte[] cut = Arrays.copyOf(good, n);
            assertThrows(CorruptFilterException.class, () -> BloomFile.of(ByteBuffer.wrap(cut)));
            assertThrows(EOFException.class, () -> BloomFile.of(of(cut), good.length));
            byte[] bad = good.clone();
            bad[n] ^= 1;
            assertThrows(IOException.class, () -> BloomFile.of(ByteBuffer.wrap(bad)));
        }
        assertThrows(NoSuchFileException.class, () -> BloomFile.open(Path.of("missing")));
    }

    @Test
    public void damageIsAnErrorOfTheLookup() throws IOException {
        byte[] bad = Files.readAllBytes(PLANETS);
        bad[4096 + 10] ^= 1;
        BloomFile filter = BloomFile.of(of(bad), bad.length);
        UncheckedIOException e = assertThrows(UncheckedIOException.class, () -> filter.mightContain("Pluto"));
        assertTrue(e.getCause() instanceof CorruptFilterException);
    }

    @Test
    public void aSizeThatIsNotTrueCostsNoMemory() throws IOException {
        byte[] file = Files.readAllBytes(PLANETS);
        for (long size : new long[] {Long.MIN_VALUE, -1, 0, 1, 135, 4096, 1L << 40, Long.MAX_VALUE}) {
            assertThrows(IOException.class, () -> BloomFile.of(of(file), size));
        }
    }

    @Test
    public void aSourceThatReadsTooLittleIsNoticed() throws IOException {
        byte[] file = Files.readAllBytes(PLANETS);
        assertThrows(IOException.class, () -> BloomFile.of((offset, length) -> new byte[length / 2], file.length));
    }

    @Test
    public void threadsMayShareAFilter() throws IOException {
        byte[] file = Files.readAllBytes(PLANETS);
        BloomFile filter = BloomFile.of(of(file), file.length);
        assertFalse(IntStream.range(0, 10_000).parallel().anyMatch(i -> !filter.mightContain("Mars")));
    }

    /** No known key is wrong, in memory and elsewhere. */
    @Test
    public void exactFiltersKnowTheirUniverse() throws IOException {
        for (String[] row : rows("native/exact.tsv")) {
            byte[] file = HexFormat.of().parseHex(row[3]);
            BloomFile filter = BloomFile.of(ByteBuffer.wrap(file));
            BloomFile elsewhere = BloomFile.of(of(file), file.length);
            assertEquals("exact", filter.kind());
            for (int column = 0; column < 2; column++) {
                for (int i = 0; i < Integer.parseInt(row[column]); i++) {
                    String key = (column == 0 ? "key" : "other") + i;
                    assertEquals(key, column == 0, filter.mightContain(key));
                    assertEquals(key, column == 0, elsewhere.mightContain(key));
                }
            }
        }
    }

    /** A list is its base and the deltas beside it, so the base alone would give wrong answers. */
    @Test
    public void deltasAreNotIgnored() throws IOException {
        Path list = Files.createTempFile("umbel", ".umb");
        Path deltas = Path.of(list + ".deltas");
        try {
            Files.write(list, Files.readAllBytes(PLANETS));
            assertTrue(BloomFile.open(list).mightContain("Mars"));
            Files.writeString(deltas, "UMBD");
            Exception e = assertThrows(UnsupportedFilterException.class, () -> BloomFile.open(list));
            assertTrue(e.getMessage(), e.getMessage().contains(deltas.toString()));
        } finally {
            Files.deleteIfExists(deltas);
            Files.delete(list);
        }
    }

    /** Small files of the conformance kit, whose folder UMBEL_VECTORS names, and some of the repository. */
    private static List<byte[]> seeds() throws IOException {
        List<byte[]> seeds = new ArrayList<>(List.of(Files.readAllBytes(PLANETS)));
        for (String table : List.of("native/tight.tsv", "native/exact.tsv")) {
            for (String[] row : rows(table)) {
                seeds.add(HexFormat.of().parseHex(row[3]));
            }
        }
        String kit = System.getenv("UMBEL_VECTORS");
        if (kit != null) {
            try (Stream<Path> names = Files.walk(Path.of(kit))) {
                for (Path name : names.filter(path -> path.toString().endsWith(".umb")).sorted().toList()) {
                    if (Files.size(name) < 1 << 14) {
                        seeds.add(Files.readAllBytes(name));
                    }
                }
            }
            assertTrue(seeds.size() > 100);
        }
        return seeds;
    }

    /** Changed files are refused or answer; there is no other exception, and both ways to read one agree. */
    @Test
    public void changedFiles() throws IOException {
        Random random = new Random(1);
        int sound = 0;
        int refused = 0;
        for (byte[] seed : seeds()) {
            for (int round = 0; round < 300; round++) {
                byte[] file = seed.clone();
                for (int i = 0; i < round % 4 && file.length > 0; i++) {
                    int within = random.nextBoolean() ? Math.min(200, file.length) : file.length;
                    int[] values = {0, 1, 0x7f, 0x80, 0xff, random.nextInt(256)};
                    file[random.nextInt(within)] = (byte) values[random.nextInt(values.length)];
                }
                seal(file);
                BloomFile filter;
                try {
                    filter = BloomFile.of(ByteBuffer.wrap(file));
                } catch (CorruptFilterException | UnsupportedFilterException e) {
                    refused++;
                    continue;
                }
                sound++;
                BloomFile other = BloomFile.of(of(file), file.length);
                for (String key : List.of("", "Mars", "http://a.evil.com/x", "long".repeat(100))) {
                    assertEquals(filter.mightContain(key), other.mightContain(key.getBytes(StandardCharsets.UTF_8)));
                }
            }
        }
        assertTrue(sound + " sound files, " + refused + " refused ones", sound > 100 && refused > 100);
    }

    /** Gives a file right checksums, if there is room for them. */
    private static void seal(byte[] file) {
        if (file.length < 136) {
            return;
        }
        ByteBuffer fields = Payload.littleEndian(file);
        int length = fields.getInt(12);
        long at = fields.getLong(96);
        long n = fields.getLong(104);
        boolean fits = length >= 136 && length <= file.length && n > 0 && n < Payload.PIECE && at >= 0;
        if (!fits || at + n + 16 != file.length) {
            return;
        }
        int sums = (int) (at + n);
        fields.putLong(length - 8, Xxh3.hash(file, 0, length - 8, 0));
        fields.putLong(sums, Xxh3.hash(file, (int) at, (int) n, 0));
        fields.putLong(sums + 8, Xxh3.hash(file, sums, 8, fields.getLong(length - 8)));
    }
}
