/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "base/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"

/* A terminal silently drops what is longer. */
enum { LINE_MAX_TYPED = 4095 };

static struct {
    int fd;
    struct termios shown;
} terminal;

/* The thread that waits for signals may call it, too: doing it twice is harmless. */
static void show_again(void *ctx) {
    (void)ctx;
    tcsetattr(terminal.fd, TCSAFLUSH, &terminal.shown);
}

static void say(const char *text) {
    (void)!write(terminal.fd, text, strlen(text));
}

/* Keys that would suspend or abort leave a terminal without echo behind, so they are off.  What was
 * typed before the prompt is dropped: it was seen. */
static void hide(const char *option, const char *hint) {
    struct termios hidden;
    terminal.fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal.fd < 0 || tcgetattr(terminal.fd, &terminal.shown)) {
        cli_die(option, hint, "there is no terminal to ask on");
    }
    cli_on_early_exit(show_again, NULL);
    hidden = terminal.shown;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    hidden.c_lflag |= ICANON | ISIG;
    hidden.c_cc[VSUSP] = hidden.c_cc[VQUIT] = _POSIX_VDISABLE;
    if (tcsetattr(terminal.fd, TCSAFLUSH, &hidden)) cli_die_sys(option, errno);
}

char *cli_ask(const char *option, const char *prompt, const char *hint) {
    char line[LINE_MAX_TYPED + 2];
    ssize_t n;
    hide(option, hint);
    say(prompt);
    do {
        n = read(terminal.fd, line, sizeof line);
    } while (n < 0 && errno == EINTR);
    say("\n");
    show_again(NULL);
    cli_on_early_exit(NULL, NULL);
    close(terminal.fd);
    if (n > 0 && line[n - 1] == '\n') n--;
    if (n <= 0) cli_die(option, NULL, "nothing was typed");
    if (n >= LINE_MAX_TYPED) cli_die(option, NULL, "longer than a terminal can read");
    char *typed = cli_strndup(line, (size_t)n);
    explicit_bzero(line, sizeof line);
    return typed;
}
