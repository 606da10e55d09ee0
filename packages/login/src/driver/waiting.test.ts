import type { PageOutline, SettledPage } from "@shoal/instance";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPage } from "../reading/read-page.ts";
import { Login } from "./login.ts";

function load(name: string): PageOutline {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../testing/outlines/${name}.json`), "utf8")) as PageOutline;
}

/** A login on a page that never changes. */
function loginOn(name: string): Login {
  const outline = load(name);
  const url = outline.frames[0]?.url ?? "";
  const settled: SettledPage = {
    quiet: true,
    url,
    host: new URL(url).hostname,
    navigations: [],
    requests: [],
    dialogs: [],
    passkey_calls: [],
    changed_cookies: [],
  };
  return new Login({
    page: {
      read: (status) => Promise.resolve({ outline, reading: readPage(outline, status) }),
      act: () => Promise.resolve({ outcome: "done" }),
      settle: () => Promise.resolve(settled),
    },
    startUrl: url,
    hosts: [settled.host],
    values: () => Promise.resolve(undefined),
  });
}

it.each(["captcha-wall-1", "push-2", "magic-link-2"])(
  "waits on %s until the person has acted, without counting steps",
  async (name) => {
    const login = loginOn(name);
    const first = await login.run();
    expect(first).toMatchObject({ kind: "needs", external: { message: expect.any(String) as unknown } });
    for (let look = 0; look < 100; look += 1) expect(await login.run()).toEqual(first);
  },
);
