// SPDX-License-Identifier: MIT
// GuavaPeer DIR - does with Guava what DIR/cases asks for; interop_guava checks the results.
// It lives in Guava's package because MURMUR128_MITZ_32 cannot be chosen from outside.
package com.google.common.hash;

import java.io.BufferedInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

public final class GuavaPeer {
    private GuavaPeer() {}

    private static byte[] unhex(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    @SuppressWarnings("unchecked")
    private static <T> Funnel<Object> any(Funnel<T> funnel) {
        return (Funnel<Object>) (Funnel<?>) funnel;
    }

    private static Funnel<Object> funnel(String name) {
        switch (name) {
            case "string": return any(Funnels.stringFunnel(StandardCharsets.UTF_8));
            case "utf16": return any(Funnels.unencodedCharsFunnel());
            case "bytes": return any(Funnels.byteArrayFunnel());
            case "int32": return any(Funnels.integerFunnel());
            case "int64": return any(Funnels.longFunnel());
            default: throw new IllegalStateException("funnel " + name);
        }
    }

    // Keys are the hex of a text; for numbers the text is decimal.
    private static Object value(String name, String hex) {
        byte[] bytes = unhex(hex);
        String text = new String(bytes, StandardCharsets.UTF_8);
        switch (name) {
            case "bytes": return bytes;
            case "int32": return Integer.parseInt(text);
            case "int64": return Long.parseLong(text);
            default: return text;
        }
    }

    private static List<Object> values(String name, Path path) throws Exception {
        List<Object> values = new ArrayList<>();
        for (String line : Files.readAllLines(path)) values.add(value(name, line));
        return values;
    }

    private static String answers(BloomFilter<Object> filter, List<Object> probes) {
        StringBuilder text = new StringBuilder();
        for (Object probe : probes) text.append(filter.mightContain(probe) ? '1' : '0');
        return text.length() > 0 ? text.toString() : "-";
    }

    // -1 where Guava has no answer: every bit is set.
    private static long count(BloomFilter<Object> filter) {
        try {
            return filter.approximateElementCount();
        } catch (ArithmeticException e) {
            return -1;
        }
    }

    // number strategy funnel insertions fpp-bits -> number refused | number changed count fpp-bits
    // answers same, with our filter in N.guava; `same`: the file of the other side equals ours.
    private static String run(Path dir, String[] field) throws Exception {
        String number = field[0];
        BloomFilterStrategies strategy = BloomFilterStrategies.values()[Integer.parseInt(field[1])];
        double fpp = Double.longBitsToDouble(new BigInteger(field[4], 16).longValue());
        BloomFilter<Object> filter;
        try {
            filter = BloomFilter.create(funnel(field[2]), Long.parseLong(field[3]), fpp, strategy);
        } catch (IllegalArgumentException e) {
            return number + " refused";
        }
        StringBuilder changed = new StringBuilder();
        for (Object key : values(field[2], dir.resolve(number + ".keys"))) {
            changed.append(filter.put(key) ? '1' : '0');
        }
        try (OutputStream out = Files.newOutputStream(dir.resolve(number + ".guava"))) {
            filter.writeTo(out);
        }
        List<Object> probes = values(field[2], dir.resolve(number + ".probes"));
        String answers = answers(filter, probes);
        boolean same = false;
        Path theirs = dir.resolve(number + ".umbel");
        if (Files.exists(theirs)) {
            try (InputStream in = new BufferedInputStream(Files.newInputStream(theirs))) {
                BloomFilter<Object> read = BloomFilter.readFrom(in, funnel(field[2]));
                same = read.equals(filter) && answers(read, probes).equals(answers);
            }
        }
        return String.format("%s %s %d %x %s %s", number, changed.length() > 0 ? changed : "-",
            count(filter), Double.doubleToRawLongBits(filter.expectedFpp()),
            answers, same ? "same" : "other");
    }

    public static void main(String[] args) throws Exception {
        Path dir = Paths.get(args[0]);
        try (PrintWriter out = new PrintWriter(dir.resolve("results").toFile(), "UTF-8")) {
            for (String line : Files.readAllLines(dir.resolve("cases"))) {
                out.println(run(dir, line.split(" ")));
            }
        }
    }
}
