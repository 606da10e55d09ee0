import type { BrowserFiles, CreateBrowser } from "@shoal/client";
import { afterAll, beforeAll } from "vitest";
import type { TestService } from "./service.ts";

export interface TestSession {
  readonly id: string;
  readonly fs: BrowserFiles;
  /** Makes a unique directory. @returns its absolute path in the session. */
  freshDirectory(): Promise<string>;
}

/** For all tests of the surrounding `describe`; call {@link useService} before. */
export function useSession(test: TestService, body: CreateBrowser = {}): TestSession {
  let id: string | undefined;
  let directories = 0;
  beforeAll(async () => {
    id = (await test.shoal.browsers.create({ timeout_seconds: 3600, ...body })).session_id;
  });
  afterAll(async () => {
    if (id !== undefined) await test.shoal.browsers.delete(id);
  });
  const present = () => {
    if (id === undefined) throw new Error("The session runs inside tests only.");
    return id;
  };
  return {
    get id() {
      return present();
    },
    get fs() {
      return test.shoal.browsers.fs;
    },
    async freshDirectory() {
      const path = `/home/shoal/test-${directories++}`;
      await test.shoal.browsers.fs.createDirectory(present(), { path });
      return path;
    },
  };
}
