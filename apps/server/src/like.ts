/** A LIKE pattern for texts that hold `part` as it is: `%`, `_` and `\` stand for themselves. */
export function containing(part: string): string {
  return `%${beginningWith(part)}`;
}

/** A LIKE pattern for texts that begin with `part`. */
export function beginningWith(part: string): string {
  return `${part.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
