export function containing(part: string): string {
  return `%${beginningWith(part)}`;
}

export function beginningWith(part: string): string {
  return `${part.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
