// Runs with the web's globals only, not in Node: see edge.test.ts.
import { getProfile, listProfiles, readFile, uploadFiles, watchEvents, writeFile } from "@shoal/contract";
import { createTransport, isShoalError } from "../../index.ts";

export type EdgeReport = Record<string, unknown>;
declare const edge: { readonly baseUrl: string; report(report: EdgeReport): void };

const report: EdgeReport = { process: typeof process, buffer: typeof Buffer };
const transport = createTransport({ baseUrl: edge.baseUrl, apiKey: "sk_secret_0123456789", maxRetries: 0 });
const params = { id: "b1" };
const query = { path: "/x" };

async function tryOut(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    report[name] = await work();
  } catch (error) {
    report[name] = isShoalError(error) ? error.code : String(error);
  }
}

async function run(): Promise<void> {
  await tryOut("call", async () => (await transport.call(getProfile, { params: { id_or_name: "p1" } })).id);
  await tryOut("page", async () => (await transport.call(listProfiles)).items.length);
  await tryOut("upload of a stream", () =>
    transport.call(writeFile, { params, query, body: new Blob(["hello"]).stream() }),
  );
  await tryOut("multipart", () =>
    transport.call(uploadFiles, { params, body: { files: [{ dest_path: "/a", file: new File(["data"], "a.txt") }] } }),
  );
  await tryOut("download", async () => {
    const { stream } = await transport.download(readFile, { params, query });
    return new Response(stream).text();
  });
  await tryOut("events", async () => {
    const paths: string[] = [];
    for await (const event of transport.stream(watchEvents, { params: { id: "b1", watch_id: "w1" } }))
      paths.push(event.path);
    return paths;
  });
  await tryOut("refused", () => transport.call(getProfile, { params: { id_or_name: "missing" } }));
  edge.report(report);
}
void run();
