// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import umbel.BloomFile;

/**
 * {@code Ask FILE} answers questions about a filter. Keys are lines of hexadecimal digits on standard input; a line
 * of the output says yes or no to each. It exits with 2 if it does not read the file, and says why.
 */
final class Ask {
    private Ask() {}

    public static void main(String[] arguments) throws IOException {
        BloomFile filter;
        try {
            filter = BloomFile.open(Path.of(arguments[0]));
        } catch (IOException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        StringBuilder answers = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.append(filter.mightContain(HexFormat.of().parseHex(line)) ? "yes\n" : "no\n");
        }
        System.out.print(answers);
    }
}
