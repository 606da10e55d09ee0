import type { Channel } from "../../protocol/channel.ts";
import { readdirSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { enableCompileCache, flushCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const chunkBytes = 256 * 1024;

/** Code that V8 has compiled. A failure, for example of a full disk, leaves starts slower and nothing else. */
export class CompileCache {
  /** The folder that this program records into. */
  readonly #recorded: string | undefined;

  /** @param known - the folder of an earlier program's files; `undefined` = record them. */
  constructor(known: string | undefined) {
    try {
      const folder = join(tmpdir(), ".shoal-compile-cache");
      enableCompileCache(folder);
      // Node's own folder has the user in its name, and each box has another user.
      const [tag = ""] = readdirSync(folder);
      const own = join(folder, tag);
      if (known === undefined) this.#recorded = own;
      else {
        rmdirSync(own);
        symlinkSync(known, own);
      }
    } catch {
      this.#recorded = undefined;
    }
  }

  /** Sends the recorded files. */
  async send(channel: Channel): Promise<void> {
    const folder = this.#recorded;
    if (folder === undefined) return;
    try {
      flushCompileCache();
      for (const name of readdirSync(folder)) await sendFile(channel, name, await readFile(join(folder, name)));
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // The service keeps the files that it got.
    }
  }
}

async function sendFile(channel: Channel, name: string, content: Buffer): Promise<void> {
  channel.send({ type: "compiled", name });
  for (let start = 0; start < content.length; start += chunkBytes)
    await channel.sendBytes(content.subarray(start, start + chunkBytes));
}
