/** `apiKeys` → `api-keys`, `timeout_seconds` → `timeout-seconds`. */
export function kebab(word: string): string {
  return word.replaceAll(/[_.]/g, "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `timeout_seconds` → `--timeout-seconds`, `profile.id` → `--profile-id`. */
export function flagName(field: string): string {
  return `--${kebab(field)}`;
}
