import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CurrentSession } from "./current-session.ts";

describe("the current session", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "shoal-cli-pages-"));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("is stored for each service, readable by its user only", () => {
    const env = { SHOAL_CONFIG_DIR: folder };
    const [first, second] = ["http://a:1", "http://b:1"].map((url) => new CurrentSession(env, url));
    first?.write("k3f9");
    expect([first?.read(), second?.read()]).toEqual(["k3f9", undefined]);
    expect(statSync(join(folder, "sessions")).mode & 0o777).toBe(0o700);
    first?.clear();
    expect(first?.read()).toBeUndefined();
  });
});
