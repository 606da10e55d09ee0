/**
 * The usage of each operation's command, from the generated pages of operations and commands.
 * @returns by the name of the operation: `shoal browsers get [id-or-name]`
 */
export function commandUsages(operationsPage: string, commandsPage: string): Map<string, string> {
  const usages = [...commandsPage.matchAll(/^\| `(shoal [^`]+)` \|/gm)].map(([, usage = ""]) => usage);
  return new Map(
    [...operationsPage.matchAll(/^\| `([\w.]+)` \| `[^`]+` \| `(shoal [^`]+)` \|/gm)].map(
      ([, operation = "", command = ""]) => [
        operation,
        usages.find((usage) => usage.replace(/ [<[].*$/, "") === command) ?? command,
      ],
    ),
  );
}
