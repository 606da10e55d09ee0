import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const form = `<!doctype html><title>form</title>
<label>Name <input id="name"></label> <button onclick="document.title = 'hello ' + document.querySelector('#name').value">Greet</button>`;
const missing = missingFor("sandbox") ?? missingInPython("pydoll");

describe.skipIf(missing !== undefined)(`pydoll${missing === undefined ? "" : ` (skipped, ${missing})`}`, () => {
  const test = useService(() => ["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1"]);
  let site: Site;
  beforeAll(async () => {
    site = await serveSite((_request, response) => response.setHeader("content-type", "text/html").end(form));
  });
  afterAll(() => site.close());

  // It keeps the query of the address and writes another path: /devtools/page/ID.
  it("connects to the address of a session, and to each of its tabs at the root of the service", async () => {
    const { cdp_ws_url } = await test.shoal.browsers.create();
    const program = join(import.meta.dirname, "pydoll_client.py");
    const { stdout } = await promisify(execFile)(python, [program, cdp_ws_url, site.url]);
    expect(stdout).toBe("form\nhello Ann\n1\n");
  });
});
