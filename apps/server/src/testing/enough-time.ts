/**
 * Calls `assertions` with a longer time limit until they pass: how long a browser needs within a limit that must end
 * depends on the machine.
 * @param longestMs - the largest limit that the service accepts; its failure is reported.
 */
export async function withEnoughTime(
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
  assertions: (limitMs: number) => Promise<void>,
): Promise<void> {
  for (let limitMs = firstMs; limitMs < longestMs; limitMs *= 4)
    try {
      await assertions(limitMs);
      return;
    } catch {
      // The limit was too short, or the next one fails as well.
    }
  await assertions(longestMs);
}
