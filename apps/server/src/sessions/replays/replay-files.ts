import { hasCode } from "@shoal/primitives";
import { Replay } from "@shoal/schemas";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";

/** Strict, since ids become file names. */
const replayIdPattern = /^[0-9a-f]{24}$/;

export function isReplayId(text: string): boolean {
  return replayIdPattern.test(text);
}

/** Answers omit these fields of a description. */
const Owner = z.object({ project_id: z.optional(z.string()) });

export interface DescribedReplay {
  readonly replay: Replay;
  readonly projectId: string | undefined;
}

/** @returns `undefined` for a damaged description. */
function described(text: string, id: string): DescribedReplay | undefined {
  try {
    const document: unknown = JSON.parse(text);
    const replay = Replay.parse(document);
    return replay.replay_id === id ? { replay, projectId: Owner.parse(document).project_id } : undefined;
  } catch {
    return undefined;
  }
}

/** A film and a description each, in one folder per session. */
export class ReplayFiles {
  readonly #directory: string;
  readonly #changing = new Map<string, Promise<void>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  folderOf(sessionId: string): string {
    return join(this.#directory, sessionId);
  }

  filmOf(sessionId: string, id: string): string {
    return join(this.#directory, sessionId, `${id}.mp4`);
  }

  async filmBytes(sessionId: string, id: string): Promise<number> {
    return (await stat(this.filmOf(sessionId, id)).catch(() => undefined))?.size ?? 0;
  }

  async sessions(): Promise<string[]> {
    return readdir(this.#directory).catch(() => []);
  }

  async ids(sessionId: string): Promise<string[]> {
    const names = await readdir(this.folderOf(sessionId)).catch(() => []);
    return names
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.slice(0, -".json".length))
      .filter(isReplayId);
  }

  async read(sessionId: string, id: string): Promise<DescribedReplay | undefined> {
    let text: string;
    try {
      text = await readFile(this.#descriptionOf(sessionId, id), "utf8");
    } catch (error) {
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    }
    return described(text, id) ?? { replay: await this.#damaged(sessionId, id), projectId: undefined };
  }

  /** After a power loss, for example. The time of the film counts for retention. */
  async #damaged(sessionId: string, id: string): Promise<Replay> {
    const description = this.#descriptionOf(sessionId, id);
    const { mtime } = await stat(this.filmOf(sessionId, id)).catch(() => stat(description));
    const at = mtime.toISOString();
    return { replay_id: id, started_at: at, finished_at: at, failure_reason: "Its description is damaged." };
  }

  async write(sessionId: string, { replay, projectId }: DescribedReplay): Promise<void> {
    const path = this.#descriptionOf(sessionId, replay.replay_id);
    const file = await open(`${path}.new`, "w", 0o600);
    try {
      await file.writeFile(JSON.stringify({ ...replay, ...(projectId !== undefined && { project_id: projectId }) }));
      // A power loss after the rename would leave an empty file.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
  }

  /** @returns false if the recording is not in the folder. */
  async change(sessionId: string, id: string, make: (present: Replay) => Replay): Promise<boolean> {
    let isHere = false;
    await this.exclusively(sessionId, id, async (present) => {
      if (present === undefined) return;
      isHere = true;
      await this.write(sessionId, { ...present, replay: make(present.replay) });
    });
    return isHere;
  }

  /** Serializes changes of one recording. */
  exclusively(
    sessionId: string,
    id: string,
    work: (present: DescribedReplay | undefined) => Promise<void>,
  ): Promise<void> {
    const key = `${sessionId}/${id}`;
    const changed = (this.#changing.get(key) ?? Promise.resolve()).then(async () =>
      work(await this.read(sessionId, id)),
    );
    const settled = changed
      .catch(() => undefined)
      .finally(() => {
        if (this.#changing.get(key) === settled) this.#changing.delete(key);
      });
    this.#changing.set(key, settled);
    return changed;
  }

  async remove(sessionId: string, id: string): Promise<void> {
    await rm(this.filmOf(sessionId, id), { force: true });
    await rm(this.#descriptionOf(sessionId, id), { force: true });
  }

  async removeEmpty(sessionId: string): Promise<void> {
    const left = await readdir(this.folderOf(sessionId)).catch(() => [sessionId]);
    if (left.length === 0) await rm(this.folderOf(sessionId), { recursive: true, force: true });
  }

  #descriptionOf(sessionId: string, id: string): string {
    return join(this.#directory, sessionId, `${id}.json`);
  }
}
