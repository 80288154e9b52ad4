// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.atomic.AtomicLong;
import umbel.BloomFile;
import umbel.ReadAt;

/**
 * {@code Range URL TEXT...} asks a filter on a web server and reads only what it needs of the file. It prints yes or
 * no for each text, and at the end, on standard error, how much it read. It exits with 2 if it fails.
 *
 * <p>The payload is not compared with its checksums, so a lookup reads a few bytes and not a MiB: use it where the
 * transport is trusted.
 */
final class Range implements ReadAt {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final URI url;

    private Range(URI url) {
        this.url = url;
    }

    private <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> body) throws IOException {
        try {
            return client.send(request, body);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    private long size() throws IOException {
        HttpRequest request = HttpRequest.newBuilder(url).method("HEAD", BodyPublishers.noBody()).build();
        HttpResponse<Void> response = send(request, BodyHandlers.discarding());
        long size = response.headers().firstValueAsLong("Content-Length").orElse(-1);
        if (response.statusCode() != 200 || size < 0) {
            throw new IOException(url + ": status " + response.statusCode() + ", and " + size + " bytes");
        }
        return size;
    }

    @Override
    public byte[] read(long offset, int length) throws IOException {
        if (length == 0) {
            return new byte[0];
        }
        String range = "bytes=" + offset + "-" + (offset + length - 1);
        HttpResponse<byte[]> response =
            send(HttpRequest.newBuilder(url).header("Range", range).build(), BodyHandlers.ofByteArray());
        if (response.statusCode() != 206) {
            throw new IOException(url + ": status " + response.statusCode() + " instead of a range");
        }
        requests.incrementAndGet();
        bytes.addAndGet(length);
        return response.body();
    }

    private void report(String when) {
        System.err.println(when + ": " + requests + " requests, " + bytes + " bytes");
    }

    public static void main(String[] arguments) {
        try {
            Range file = new Range(URI.create(arguments[0]));
            BloomFile filter = BloomFile.unchecked(file, file.size());
            file.report("opened");
            for (int i = 1; i < arguments.length; i++) {
                System.out.println(filter.mightContain(arguments[i]) ? "yes" : "no");
            }
            file.report("in all");
        } catch (IOException | UncheckedIOException e) {
            System.err.println(e.getMessage());
            System.exit(2);
        }
    }
}
