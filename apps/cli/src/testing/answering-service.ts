import { contract, type Endpoint } from "@shoal/contract";
import type { Handler, MultipartPart } from "@shoal/router";
import { HttpRouter } from "@shoal/router/http";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Entry, fromBuffer, type ZipFile } from "yauzl";
import { shoal } from "./shoal.ts";

interface Asked {
  readonly operationId: string;
  readonly params: object;
  readonly query: object;
  readonly body: unknown;
}

/** A service with the answers of the test. Empty before each test. */
export class AnsweringService {
  /** Temporary; the command's settings are in it. */
  readonly folder = mkdtempSync(join(tmpdir(), "shoal-answers-"));
  /** Of the command; complete inside tests. */
  readonly env: Record<string, string> = { SHOAL_API_KEY: "sk_test_0123456789", SHOAL_CONFIG_DIR: this.folder };
  asked: Asked[] = [];
  /** By operation. */
  answers: Partial<Record<string, (body: unknown) => unknown>> = {};
  /** The last uploaded file. */
  zip = Buffer.alloc(0);

  readonly run = (...args: string[]): ReturnType<typeof shoal> => shoal(args, { env: this.env });

  async answer(endpoint: Endpoint, { params, query, body }: Parameters<Handler<Endpoint>>[0]): Promise<unknown> {
    const given: unknown =
      endpoint.body?.kind === "multipart"
        ? await this.#fieldsOf(body as unknown as AsyncIterable<MultipartPart>)
        : body;
    this.asked.push({ operationId: endpoint.operationId, params, query, body: given });
    return this.answers[endpoint.operationId]?.(given);
  }

  async #fieldsOf(parts: AsyncIterable<MultipartPart>): Promise<Record<string, string>> {
    const fields: Record<string, string> = {};
    for await (const part of parts) {
      if (part.kind === "field") fields[part.name] = part.value;
      else {
        fields[part.name] = part.filename;
        this.zip = Buffer.concat((await part.stream.toArray()) as Buffer[]);
      }
    }
    return fields;
  }
}

/** Runs during the tests of the file. */
export function useAnsweringService(): AnsweringService {
  const service = new AnsweringService();
  const router = new HttpRouter({ context: () => undefined });
  for (const endpoint of Object.values<Endpoint>(contract)) {
    // The union of all answer types is useless.
    const handler: Handler<Endpoint> = async (request) => (await service.answer(endpoint, request)) as undefined;
    router.mount(endpoint, handler);
  }
  const server = createServer(router.handle);
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    service.env.SHOAL_BASE_URL = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(service.folder, { recursive: true });
  });
  beforeEach(() => {
    service.asked = [];
    service.answers = {};
  });
  return service;
}

interface TestEvent {
  readonly id: string;
  readonly data: object;
}

export async function* events(...data: object[]): AsyncGenerator<TestEvent> {
  let id = 0;
  for (const event of data) yield { id: String(++id), data: event };
}

/** Like {@link events}, without an end. */
export async function* endless(...data: object[]): AsyncGenerator<TestEvent> {
  yield* events(...data);
  await new Promise(() => undefined);
}

/** By name; the target of a link follows `link `. */
export async function namesIn(archive: Buffer): Promise<Record<string, string>> {
  const zipFile = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: false }, (error, opened) => {
      if (error) reject(error);
      else resolve(opened);
    });
  });
  const found: Record<string, string> = {};
  const reading: Promise<void>[] = [];
  zipFile.on("entry", (entry: Entry) => {
    const text = new Promise<string>((resolve, reject) => {
      zipFile.openReadStream(entry, (error, stream) => {
        if (error) reject(error);
        else
          stream.toArray().then((chunks) => {
            resolve(Buffer.concat(chunks as Buffer[]).toString());
          }, reject);
      });
    });
    reading.push(
      text.then((content) => {
        found[entry.fileName] = (entry.externalFileAttributes >>> 28 === 0xa ? "link " : "") + content;
      }),
    );
  });
  await once(zipFile, "end");
  await Promise.all(reading);
  return found;
}
