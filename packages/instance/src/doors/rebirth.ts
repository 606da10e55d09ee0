import { readFileSync } from "node:fs";

/**
 * Calls `reborn` once, when this process continues as a copy of itself. The service stops a copy before its first step,
 * and writes a file that only the copy has, in a folder that the box cannot write to.
 */
export function onRebirth(path: string, reborn: () => void): void {
  const before = nameIn(path);
  const look = (): void => {
    if (nameIn(path) === before) return;
    process.off("SIGCONT", look);
    reborn();
  };
  process.on("SIGCONT", look);
}

/** Returns the key of the service that started this copy: a later run of the service has another key. */
export function pinAfterRebirth(path: string): string | undefined {
  const pin = nameIn(path)?.split("\n")[1];
  return pin !== undefined && /^[0-9a-f]{64}$/.test(pin) ? pin : undefined;
}

function nameIn(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
