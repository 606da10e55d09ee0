import { ServiceError, type MultipartPart } from "@shoal/router";
import { eventuallyPasses } from "@shoal/testkit";
import { createHash, randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { settled } from "./testing/conditions.ts";
import { adapters, answerOf, rawConnection } from "./testing/servers.ts";

const id = "/things/x";
const type = "multipart/form-data; boundary=b";

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Files become their digest. */
async function readParts(parts: AsyncIterable<MultipartPart>): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const part of parts) {
    if (part.kind === "field") seen.push([part.name, part.value]);
    else {
      const chunks: Buffer[] = [];
      for await (const chunk of part.stream) chunks.push(chunk as Buffer);
      seen.push([part.name, part.filename, part.contentType, digest(Buffer.concat(chunks))]);
    }
  }
  return seen;
}

/** Headers and content of each part. */
function written(...parts: [headers: string, content: string][]): string {
  return `${parts.map(([headers, content]) => `--b\r\n${headers}\r\n\r\n${content}\r\n`).join("")}--b--\r\n`;
}

const disposition = (rest: string) => `Content-Disposition: form-data; ${rest}`;
const rawUpload = (url: string, body: string | Uint8Array<ArrayBuffer>, contentType = type) =>
  fetch(`${url}${id}/upload`, { method: "POST", headers: { "content-type": contentType }, body });

describe.each(adapters)("uploads over $name", ({ start }) => {
  describe("bytes", () => {
    it("reach the handler unchanged, with any content type", async () => {
      const content = randomBytes(5_000_000);
      const { url } = await start({
        write: async ({ body }) => {
          const hash = createHash("sha256");
          for await (const chunk of body) hash.update(chunk as Buffer);
          return { sha: hash.digest("hex") };
        },
      });
      for (const headers of [
        { "content-type": "application/octet-stream" },
        { "content-type": "application/json" },
        {},
      ]) {
        expect(await answerOf(fetch(`${url}${id}/content`, { method: "PUT", headers, body: content }))).toMatchObject({
          status: 200,
          body: { sha: digest(content) },
        });
      }
    });

    it("may be empty", async () => {
      const { url } = await start({ write: async ({ body }) => ({ chunks: (await body.toArray()).length }) });
      expect(await answerOf(fetch(`${url}${id}/content`, { method: "PUT" }))).toMatchObject({ body: { chunks: 0 } });
    });

    it("receive an answer when the handler refuses them or its pipeline fails", async () => {
      const { faults, url } = await start({
        write: async ({ body, params }) => {
          if (params.id === "refused") throw new ServiceError(507, "insufficient_storage", "Full.");
          await pipeline(body, createWriteStream("/nonexistent/directory/file"));
        },
      });
      const put = (name: string) =>
        answerOf(fetch(`${url}/things/${name}/content`, { method: "PUT", body: new Uint8Array(20_000_000) }));
      expect(await put("refused")).toMatchObject({ status: 507 });
      expect(await put("broken")).toMatchObject({ status: 500 });
      expect(faults).toMatchObject([{ error: { message: expect.stringContaining("ENOENT") as string } }]);
    });

    it("that a handler reads slowly are not buffered in memory", async () => {
      const gate = Promise.withResolvers<undefined>();
      const { port } = await start({
        write: async ({ body }) => {
          await gate.promise;
          let size = 0;
          for await (const chunk of body) size += (chunk as Buffer).length;
          return { size };
        },
      });
      const total = 64 * 1024 * 1024;
      const { received, socket } = await rawConnection(
        port,
        `PUT ${id}/content HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${total}\r\n\r\n`,
      );
      let accepted = 0;
      const chunk = Buffer.alloc(64 * 1024);
      const fill = () => {
        while (accepted < total) {
          accepted += chunk.length;
          if (!socket.write(chunk)) {
            socket.once("drain", fill);
            return;
          }
        }
      };
      fill();
      expect(await settled(() => socket.bytesWritten - socket.writableLength)).toBeLessThan(32 * 1024 * 1024);
      gate.resolve(undefined);
      await eventuallyPasses(() => {
        expect(received()).toContain(`{"size":${total}}`);
      });
    });

    it("that break off are an error for the handler, but not a fault of the server", async () => {
      const failed = Promise.withResolvers<Error>();
      const { faults, port } = await start({
        write: async ({ body }) => {
          await body.toArray().catch((error: unknown) => {
            failed.resolve(error as Error);
            throw error;
          });
        },
      });
      const { socket } = await rawConnection(
        port,
        `PUT ${id}/content HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nonly this`,
      );
      socket.end();
      expect((await failed.promise).name).toBe("ClientGone");
      await eventuallyPasses(() => {
        expect(socket.destroyed).toBe(true);
      });
      expect(faults).toEqual([]);
    });
  });

  describe("multipart", () => {
    it("arrives part by part", async () => {
      const large = randomBytes(3_000_000);
      const { url } = await start({ upload: ({ body }) => readParts(body) });
      const form = new FormData();
      form.append("files[0][dest_path]", "/tmp/ü");
      form.append("files[0][file]", new Blob([large]), "größe.bin");
      form.append("files[1][file]", new Blob(["small"], { type: "text/plain" }), "b.txt");
      form.append("empty", "");
      form.append("nothing", new Blob([]), "nothing");
      expect(await answerOf(fetch(`${url}${id}/upload`, { method: "POST", body: form }))).toMatchObject({
        status: 200,
        body: [
          ["files[0][dest_path]", "/tmp/ü"],
          ["files[0][file]", "größe.bin", "application/octet-stream", digest(large)],
          ["files[1][file]", "b.txt", "text/plain", digest(Buffer.from("small"))],
          ["empty", ""],
          ["nothing", "nothing", "application/octet-stream", digest(Buffer.alloc(0))],
        ],
      });
    });

    it("arrives complete in chunks of any size", async () => {
      const { port } = await start({ upload: ({ body }) => readParts(body) });
      const body = written(
        [disposition('name="a"'), "1"],
        [disposition('name="f"; filename="x"'), "--b\r\n-not a boundary\r\n"],
        [disposition('name="c"'), "2"],
      );
      const { received, socket } = await rawConnection(
        port,
        `POST ${id}/upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${body.replace("--b\r\n-not", "--c\r\n-not").length}\r\n\r\n`,
      );
      for (const character of body.replace("--b\r\n-not", "--c\r\n-not"))
        if (!socket.write(character)) await new Promise((resolve) => socket.once("drain", resolve));
      await eventuallyPasses(() => {
        expect(received()).toContain(
          `[["a","1"],["f","x","text/plain","${digest(Buffer.from("--c\r\n-not a boundary\r\n"))}"],["c","2"]]`,
        );
      });
    });

    it("lets a handler leave files unread, destroy them, or stop early", async () => {
      const { faults, url } = await start({
        upload: async ({ body, params }) => {
          const names: string[] = [];
          for await (const part of body) {
            names.push(part.name);
            if (params.id === "destroy" && part.kind === "file") part.stream.destroy();
            if (params.id === "stop") break;
            if (params.id === "fail") throw new ServiceError(400, "bad_request", "No.");
            if (params.id === "pipe" && part.kind === "file")
              await pipeline(part.stream, createWriteStream("/nonexistent/directory/file")).catch(() => undefined);
          }
          return names;
        },
      });
      const form = () => {
        const data = new FormData();
        for (const name of ["a", "b", "c"]) data.append(name, new Blob([new Uint8Array(2_000_000)]), name);
        return data;
      };
      const post = (name: string) => answerOf(fetch(`${url}/things/${name}/upload`, { method: "POST", body: form() }));
      expect(await post("leave")).toMatchObject({ status: 200, body: ["a", "b", "c"] });
      expect(await post("destroy")).toMatchObject({ status: 200, body: ["a", "b", "c"] });
      expect(await post("pipe")).toMatchObject({ status: 200, body: ["a", "b", "c"] });
      expect(await post("stop")).toMatchObject({ status: 200, body: ["a"] });
      expect(await post("fail")).toMatchObject({ status: 400 });
      expect(faults).toEqual([]);
    });

    it("may be left unread completely", async () => {
      const { url } = await start({ upload: () => "unread" });
      const form = new FormData();
      form.append("file", new Blob([new Uint8Array(2_000_000)]), "x");
      expect(await answerOf(fetch(`${url}${id}/upload`, { method: "POST", body: form }))).toMatchObject({
        status: 200,
        body: "unread",
      });
    });

    it.each(["application/json", "multipart/mixed; boundary=b", "text/plain"])("refuses %s", async (contentType) => {
      const { url } = await start({ upload: ({ body }) => readParts(body) });
      expect(await answerOf(rawUpload(url, "", contentType))).toMatchObject({ status: 415 });
    });

    it.each([
      ["without a boundary in its type", "x", "multipart/form-data"],
      ["that ends in the middle of a file", `--b\r\n${disposition('name="f"; filename="x"')}\r\n\r\nhalf`, type],
      ["that ends in the middle of a field", `--b\r\n${disposition('name="f"')}\r\n\r\nhalf`, type],
      ["that ends in the middle of a header", "--b\r\nContent-Dispo", type],
      ["without its last boundary", `--b\r\n${disposition('name="f"')}\r\n\r\n1\r\n`, type],
      ["of another boundary", written([disposition('name="f"'), "1"]), "multipart/form-data; boundary=other"],
      ["that is empty", "", type],
      ["with a part that has no name", written([disposition('filename="x"'), "1"]), type],
      ["with a field that has no name", written(["Content-Disposition: form-data", "1"]), type],
      ["with a name of 256 characters", written([disposition(`name="${"n".repeat(256)}"`), "1"]), type],
    ])("%s is refused", async (_what, body, contentType) => {
      const { faults, url } = await start({ upload: ({ body: parts }) => readParts(parts) });
      expect(await answerOf(rawUpload(url, body, contentType))).toMatchObject({
        status: 400,
        body: { code: "bad_request", message: expect.stringMatching(/^body: /) as string },
      });
      expect(faults).toEqual([]);
    });

    it("passes hostile names unchanged, but only the last part of a file name", async () => {
      const { url } = await start({ upload: ({ body }) => readParts(body) });
      const body = written(
        [disposition('name="__proto__"'), "1"],
        [disposition('name="constructor"; filename="../../etc/passwd"'), "x"],
        [disposition('name="c"; filename="C:\\\\windows\\\\x.exe"'), "x"],
      );
      const answer = await answerOf(rawUpload(url, body));
      expect(answer).toMatchObject({
        status: 200,
        body: [
          ["__proto__", "1"],
          ["constructor", "passwd"],
          ["c", "x.exe"],
        ].map(([name, value]) => expect.arrayContaining([name, value]) as unknown),
      });
    });

    it("limits the text of its fields, each and in total, but not its files", async () => {
      const { url } = await start({ upload: ({ body }) => readParts(body) }, { bodyLimitBytes: 1000 });
      const fields = (count: number, size: number) =>
        written(
          ...Array.from({ length: count }, (_, index): [string, string] => [
            disposition(`name="f${index}"`),
            "x".repeat(size),
          ]),
        );
      expect(await answerOf(rawUpload(url, fields(10, 100)))).toMatchObject({ status: 200 });
      const refusal = {
        status: 413,
        body: {
          code: "payload_too_large",
          message: "body: the text fields together are larger than the limit of 1000 bytes",
          field: "body",
          limit: 1000,
        },
      };
      expect(await answerOf(rawUpload(url, fields(11, 100)))).toMatchObject(refusal);
      expect(await answerOf(rawUpload(url, fields(1, 1001)))).toMatchObject(refusal);
      expect(
        await answerOf(rawUpload(url, written([disposition('name="f"; filename="x"'), "x".repeat(100_000)]))),
      ).toMatchObject({ status: 200 });
    });

    it("limits the number of its parts", async () => {
      const { url } = await start({ upload: ({ body }) => readParts(body) });
      const parts = (count: number) =>
        written(...Array.from({ length: count }, (): [string, string] => [disposition('name="f"'), ""]));
      expect(await answerOf(rawUpload(url, parts(10_000)))).toMatchObject({ status: 200 });
      expect(await answerOf(rawUpload(url, parts(10_001)))).toMatchObject({
        status: 413,
        body: { message: "body: more than 10000 parts", field: "body", limit: 10_000 },
      });
    });

    it("that breaks off is an error for the handler, but not a fault of the server", async () => {
      const failed = Promise.withResolvers<Error>();
      const { faults, port } = await start({
        upload: ({ body }) =>
          readParts(body).catch((error: unknown) => {
            failed.resolve(error as Error);
            throw error;
          }),
      });
      const { socket } = await rawConnection(
        port,
        `POST ${id}/upload HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 100000\r\n\r\n--b\r\n${disposition('name="f"; filename="x"')}\r\n\r\nhalf`,
      );
      socket.end();
      expect((await failed.promise).name).toBe("ClientGone");
      expect(faults).toEqual([]);
    });

    it("waits for a handler that reads a file slowly", async () => {
      const gate = Promise.withResolvers<undefined>();
      const { url } = await start({
        upload: async ({ body }) => {
          const sizes: number[] = [];
          for await (const part of body) {
            await gate.promise;
            if (part.kind === "file")
              sizes.push(((await part.stream.toArray()) as Buffer[]).reduce((sum, chunk) => sum + chunk.length, 0));
          }
          return sizes;
        },
      });
      const total = 40_000_000;
      let taken = 0;
      const content = new ReadableStream<Uint8Array>({
        pull(controller) {
          const head = Buffer.from(`--b\r\n${disposition('name="f"; filename="x"')}\r\n\r\n`);
          if (taken === 0) controller.enqueue(head);
          const chunk = Buffer.alloc(Math.min(65_536, total - taken));
          taken += chunk.length;
          controller.enqueue(chunk);
          if (taken === total) {
            controller.enqueue(Buffer.from("\r\n--b--\r\n"));
            controller.close();
          }
        },
      });
      const answer = answerOf(
        fetch(`${url}${id}/upload`, {
          method: "POST",
          headers: { "content-type": type },
          body: content,
          ...{ duplex: "half" },
        }),
      );
      expect(await settled(() => taken)).toBeLessThan(30_000_000);
      gate.resolve(undefined);
      expect(await answer).toMatchObject({ status: 200, body: [total] });
    });
  });
});
