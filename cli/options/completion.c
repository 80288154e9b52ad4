/* SPDX-License-Identifier: MIT
 *
 * completion.c - `umbel help --completion SHELL`: the same tables as a shell's completions
 */
#include <string.h>

#include "command/command.h"
#include "options/filter_options.h"

/* The values that an option takes, separated by blanks; "" for a file, NULL for anything.  `room`
 * has CLI_NAMES bytes. */
static const char *values_of(const cli_option *o, char *room) {
    if (!o->choices) return NULL;
    if (strcmp(o->choices, "FILE") == 0) return "";
    if (strcmp(o->choices, "FORMAT") == 0) return cli_format_names(" ", room);
    if (strcmp(o->choices, "TYPE") == 0) return cli_type_names(" ", room);
    if (strcmp(o->choices, "KIND") == 0) return cli_kind_names(" ", room);
    return o->choices;
}

static void bash_command(const cli_command *c, FILE *to) {
    fprintf(to, "    %s)\n        case $prev in\n", c->name);
    char room[CLI_NAMES];
    for (const uint8_t *id = c->options; *id; id++) {
        const cli_option *o = &cli_options[*id];
        if (o->type == TYPE_FLAG) continue;
        fputs("        ", to);
        for (const char *l = o->letters; *l; l++) fprintf(to, "-%c|", *l);
        const char *values = values_of(o, room);
        fprintf(to, "--%s) ", o->name);
        if (values && *values) {
            fprintf(to, "COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", values);
        } else {
            fputs(values ? "compopt -o default; return ;;\n" : "return ;;\n", to);
        }
    }
    fputs("        esac\n        options='", to);
    for (const uint8_t *id = c->options; *id; id++) {
        fprintf(to, "%s--%s", id == c->options ? "" : " ", cli_options[*id].name);
    }
    fputs("' ;;\n", to);
}

static void bash(FILE *to) {
    fputs("# bash completion for umbel; made by `umbel help --completion bash`\n"
          "_umbel() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options=''\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W 'help --help --version",
          to);
    for (const cli_command *const *c = cli_commands; *c; c++) fprintf(to, " %s", (*c)->name);
    fputs("' -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n    help)\n"
          "        options='",
          to);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(to, "%s%s", c == cli_commands ? "" : " ", (*c)->name);
    }
    fputs("'\n        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n        return ;;\n", to);
    for (const cli_command *const *c = cli_commands; *c; c++) bash_command(*c, to);
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
          "    else\n"
          "        compopt -o default\n"
          "    fi\n"
          "}\n"
          "complete -F _umbel umbel\n",
          to);
}

/* Text within single quotes; zsh also takes brackets and colons in its own way. */
static void quoted(const char *text, bool zsh, FILE *to) {
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(zsh ? "'\\''" : "\\'", to);
        } else {
            if ((zsh && strchr("[]:", *text)) || *text == '\\') fputc('\\', to);
            fputc(*text, to);
        }
    }
}

static void zsh_option(const cli_option *o, FILE *to) {
    char room[CLI_NAMES];
    const char *values = values_of(o, room);
    char names[2][48] = {"", ""};
    if (*o->letters) snprintf(names[0], sizeof names[0], "-%c", *o->letters);
    snprintf(names[1], sizeof names[1], "--%.40s", o->name);
    for (int i = 0; i < 2; i++) {
        if (!*names[i]) continue;
        fprintf(to, "            '%s%s%s[", o->type == TYPE_LIST ? "*" : "", names[i],
                o->type == TYPE_FLAG ? ""
                : i                  ? "="
                                     : "+");
        quoted(o->help, true, to);
        fputc(']', to);
        if (o->type != TYPE_FLAG) {
            fprintf(to, ":%s:", o->argument);
            if (values && *values) {
                fprintf(to, "(%s)", values);
            } else if (values) {
                fputs("_files", to);
            }
        }
        fputs("' \\\n", to);
    }
}

static void zsh(FILE *to) {
    fputs("#compdef umbel\n# zsh completion for umbel; made by `umbel help --completion zsh`\n"
          "_umbel() {\n    local -a commands=(\n        'help:show help'\n",
          to);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(to, "        '%s:", (*c)->name);
        quoted((*c)->summary, true, to);
        fputs("'\n", to);
    }
    fputs("    )\n    if ((CURRENT == 2)); then\n"
          "        _describe command commands\n        return\n    fi\n"
          "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n"
          "    case $command in\n    help) _describe command commands ;;\n",
          to);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(to, "    %s)\n        _arguments -s \\\n", (*c)->name);
        for (const uint8_t *id = (*c)->options; *id; id++) zsh_option(&cli_options[*id], to);
        fputs("            '*:file:_files' ;;\n", to);
    }
    fputs("    esac\n}\n_umbel \"$@\"\n", to);
}

static void fish(FILE *to) {
    fputs("# fish completion for umbel; made by `umbel help --completion fish`\n"
          "complete -c umbel -n __fish_use_subcommand -f -a help -d 'show help'\n",
          to);
    char room[CLI_NAMES];
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(to, "complete -c umbel -n __fish_use_subcommand -f -a %s -d '", (*c)->name);
        quoted((*c)->summary, false, to);
        fputs("'\n", to);
        for (const uint8_t *id = (*c)->options; *id; id++) {
            const cli_option *o = &cli_options[*id];
            const char *values = values_of(o, room);
            fprintf(to, "complete -c umbel -n '__fish_seen_subcommand_from %s' -l %s", (*c)->name,
                    o->name);
            for (const char *l = o->letters; *l; l++) fprintf(to, " -s %c", *l);
            if (values && *values) {
                fprintf(to, " -x -a '%s'", values);
            } else if (o->type != TYPE_FLAG) {
                fputs(values ? " -r" : " -x", to);
            }
            fputs(" -d '", to);
            quoted(o->help, false, to);
            fputs("'\n", to);
        }
    }
}

bool cli_completion(const char *shell, FILE *to) {
    static const struct {
        const char *name;
        void (*print)(FILE *to);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) != 0) continue;
        shells[i].print(to);
        return true;
    }
    return false;
}
