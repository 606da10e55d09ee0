import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

// Some micro virtual machines report no changes of mounted files, so it reads again.
const everyMs = 100;
const pinPattern = /^[0-9a-f]{64}$/;

/** Waits until the file contains the pin of the service: an annotation that Kubernetes shows to the pod. */
export async function readServicePin(path: string): Promise<string> {
  for (;;) {
    const content = await readFile(path, "utf8").catch(() => "");
    if (pinPattern.test(content)) return content;
    await sleep(everyMs);
  }
}
