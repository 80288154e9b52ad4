/* SPDX-License-Identifier: MIT
 *
 * program.c - the main function of umbel-push, umbel-serve and umbel-table
 *
 * umbel has parsed the arguments and printed what help was asked for before it starts one of them.
 */
#include "base/error.h"
#include "command/command.h"
#include "options/programs.h"

#define JOINED(a, b) a##b
#define NAMED(prefix, name) JOINED(prefix, name)

int main(int argc, char **argv) {
    const cli_command *c = &NAMED(cli_command_, UMBEL_PROGRAM);
    cli_settings s;
    cli_begin();
    cli_parse(c, argc, argv, &s);
    if (s.help) cli_die(c->name, "umbel help prints it", "this program has no help");
    int status = cli_run(NAMED(cli_run_, UMBEL_PROGRAM), &s);
    cli_settings_free(&s);
    return status;
}
