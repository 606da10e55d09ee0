import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";

const Preferences = z.looseObject({
  autofill: z.optional(z.looseObject({})),
  printing: z.optional(z.looseObject({})),
  profile: z.optional(z.looseObject({ default_content_setting_values: z.optional(z.looseObject({})) })),
});

/**
 * Stops a full Chromium from storing the values of fields in the profile: its form history contains one-time codes.
 * Keeps the other preferences of the profile. In a window, nothing waits for an answer to a prompt.
 */
export function forbidFormHistory(userDataDir: string, { hasWindow = false } = {}): void {
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
    ...(hasWindow && withoutPrompts(present)),
  };
  writeFileSync(path, JSON.stringify(preferences), { mode: 0o600 });
}

/** Permissions that a window would ask for: without an answer, the page waits. As in a browser without a window. */
const deniedPermissions = [
  "ar",
  "clipboard",
  "file_system_write_guard",
  "geolocation",
  "hand_tracking",
  "hid_guard",
  "idle_detection",
  "local_fonts",
  "local_network_access",
  "media_stream_camera",
  "media_stream_mic",
  "midi_sysex",
  "notifications",
  "serial_guard",
  "storage_access",
  "usb_guard",
  "vr",
  "window_placement",
];
const denied = 2;

/** Neither the window of a permission nor the one of `print()` may wait for a person. CDP can still grant permissions. */
function withoutPrompts({ printing, profile }: z.output<typeof Preferences>): object {
  const values = Object.fromEntries(deniedPermissions.map((name) => [name, denied]));
  return {
    printing: { ...printing, enabled: false },
    profile: { ...profile, default_content_setting_values: { ...values, ...profile?.default_content_setting_values } },
  };
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
