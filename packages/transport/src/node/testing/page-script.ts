import { getProfile, listProfiles, readFile, uploadFiles, watchEvents, writeFile } from "@shoal/contract";
import { createTransport, isShoalError } from "../../index.ts";

export type PageReport = Record<string, unknown>;

// Runs in a page, not in Node: see web-page.test.ts.
const report: PageReport = {};
const transport = createTransport({ baseUrl: `${location.origin}/api`, apiKey: "sk_secret_0123456789", maxRetries: 0 });
const params = { id: "b1" };
const query = { path: "/x" };

async function tryOut(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    report[name] = await work();
  } catch (error) {
    report[name] = isShoalError(error) ? error.code : String(error);
  }
}
async function pathsOf(items: AsyncIterable<{ readonly path: string }>): Promise<string[]> {
  const paths: string[] = [];
  for await (const item of items) paths.push(item.path);
  return paths;
}
async function idsOf(items: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const item of items) ids.push(item.id);
  return ids;
}

await tryOut("call", async () => (await transport.call(getProfile, { params: { id_or_name: "p1" } })).id);
await tryOut("page", async () => idsOf(await transport.call(listProfiles)));
await tryOut("upload", () => transport.call(writeFile, { params, query, body: new Blob(["hello"]) }));
await tryOut("upload of a stream", () =>
  transport.call(writeFile, { params, query, body: new Blob(["hello"]).stream() }),
);
await tryOut("multipart", () =>
  transport.call(uploadFiles, { params, body: { files: [{ dest_path: "/a", file: new File(["data"], "a.txt") }] } }),
);
await tryOut("download", async () =>
  new Response((await transport.download(readFile, { params, query })).stream).text(),
);
await tryOut("events", () => pathsOf(transport.stream(watchEvents, { params: { id: "b1", watch_id: "w1" } })));
await tryOut("redirect", () => transport.call(getProfile, { params: { id_or_name: "redirect" } }));
await tryOut("refused", () =>
  createTransport({ baseUrl: "http://127.0.0.1:9", maxRetries: 0 }).call(getProfile, { params: { id_or_name: "p1" } }),
);
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
