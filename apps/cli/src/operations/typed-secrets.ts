import { ExitError, UsageError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import type { CommandSpec, GivenValues, Run } from "../core/types.ts";
import { typedMark } from "../table/request.ts";

/**
 * Replaces secrets given as `-` (`--token -`, `--value password=-`, `--value password`). On a terminal a hidden prompt asks
 * for each. Otherwise one of them is read from stdin.
 */
export async function withTypedSecrets(spec: CommandSpec, given: GivenValues, run: Run): Promise<GivenValues> {
  const options: Record<string, unknown> = { ...given.options };
  let fromStdin = 0;
  const ask = async (label: string): Promise<string> => {
    if (run.terminal.interactive) return typedMark + (await prompt(label));
    fromStdin += 1;
    if (fromStdin > 1)
      throw new UsageError(
        `Only one value can be read from stdin; ${label} is the second. Write @FILE for the others.`,
      );
    return "-";
  };
  for (const { field, kind, secret } of spec.flags) {
    const { key = "", name = field } = given.flags[field] ?? {};
    const value = options[key];
    if (secret !== true || value === undefined) continue;
    if (kind === "map") options[key] = await askPairs(value as string | readonly string[], ask);
    else if (value === "-") options[key] = await ask(name);
  }
  return { ...given, options };
}

async function askPairs(
  given: string | readonly string[],
  ask: (label: string) => Promise<string>,
): Promise<readonly string[]> {
  const pairs: string[] = [];
  for (const pair of typeof given === "string" ? [given] : given) {
    const label = pair.endsWith("=-") ? pair.slice(0, -2) : pair;
    pairs.push(pair.endsWith("=-") || !pair.includes("=") ? `${label}=${await ask(label)}` : pair);
  }
  return pairs;
}

async function prompt(label: string): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const answer = await password({ message: label, output: process.stderr });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was changed.");
  return answer;
}
