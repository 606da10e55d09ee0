import type { BrowserFiles } from "@shoal/client";
import { afterAll, beforeAll } from "vitest";
import type { ServiceUnderTest } from "./open-service.ts";

/** A session with files; read its fields inside tests only. */
export interface SessionUnderTest {
  readonly id: string;
  readonly fs: BrowserFiles;
  /** Makes a unique directory. @returns its absolute path. */
  freshDirectory(): Promise<string>;
}

/** One session for all tests of the surrounding `describe`. */
export function useSessionOf(test: ServiceUnderTest): SessionUnderTest {
  let id = "";
  beforeAll(async () => {
    id = (await test.shoal.browsers.create({ timeout_seconds: 3600 })).session_id;
  });
  afterAll(async () => {
    await test.shoal.browsers.delete(id);
  });
  return {
    get id() {
      return id;
    },
    get fs() {
      return test.shoal.browsers.fs;
    },
    async freshDirectory() {
      const path = `/home/shoal/${test.unique("dir")}`;
      await test.shoal.browsers.fs.createDirectory(id, { path });
      return path;
    },
  };
}
