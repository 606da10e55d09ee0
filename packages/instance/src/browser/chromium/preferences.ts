import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";

const Preferences = z.looseObject({ autofill: z.optional(z.looseObject({})) });

/**
 * Stops a full Chromium from storing the values of fields in the profile: its form history contains one-time codes.
 * Keeps the other preferences of the profile.
 */
export function forbidFormHistory(userDataDir: string): void {
  const folder = join(userDataDir, "Default");
  const path = join(folder, "Preferences");
  const present = readPreferences(path);
  if (present === undefined) return;
  mkdirSync(folder, { recursive: true });
  const preferences = {
    ...present,
    autofill: { ...present.autofill, profile_enabled: false },
    // Offers to save passwords.
    credentials_enable_service: false,
  };
  writeFileSync(path, JSON.stringify(preferences), { mode: 0o600 });
}

/** Returns `undefined` for a damaged file, which Chromium replaces. */
function readPreferences(path: string): z.output<typeof Preferences> | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return {};
  }
  try {
    const result = z.safeParse(Preferences, JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}
