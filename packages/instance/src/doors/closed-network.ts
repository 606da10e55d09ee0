import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A network plugin that drops packets costs this much, once for each start. */
const connectMs = 1_000;
const retryMs = 50;

/** Returns when `target` cannot be reached. Tries without a limit: the service has one for the start of an instance. */
export async function waitForClosedNetwork(
  target: { readonly host: string; readonly port: number } | undefined,
): Promise<void> {
  if (target === undefined) return;
  while (await reaches(target)) await sleep(retryMs);
}

function reaches({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: connectMs });
    const finish = (isReached: boolean): void => {
      socket.destroy();
      resolve(isReached);
    };
    socket.once("connect", () => {
      finish(true);
    });
    for (const event of ["error", "timeout"])
      socket.once(event, () => {
        finish(false);
      });
  });
}
