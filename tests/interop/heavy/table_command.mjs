// SPDX-License-Identifier: MIT
// table_command.mjs - umbel table on a file, as JSON
import { spawnSync } from 'node:child_process';

const umbel = process.env.UMBEL || 'build/umbel';

export function table(file, ...options) {
    const done = spawnSync(umbel, ['table', '--json', file, ...options], { maxBuffer: 1 << 28 });
    if (done.status !== 0 && done.status !== 1) {
        throw new Error(`umbel table ${file} ${options.join(' ')}: ${done.stderr}`);
    }
    return { ...JSON.parse(done.stdout), status: done.status };
}
