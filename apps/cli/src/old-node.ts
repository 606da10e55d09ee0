const least = [24, 9] as const;

/** Returns the message for a version of Node that is too old. Old versions run it, so it imports nothing. */
export function oldNodeMessage(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return undefined;
  return [
    `error: shoal needs Node ${least.join(".")} or newer; this is Node ${version}.`,
    "  Install it from https://nodejs.org, or run ./shoal in a clone of Shoal, which fetches it.",
    "",
  ].join("\n");
}
