import type { OutboundRule } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { badInput, type BytesReply, ServiceError } from "@shoal/router";
import type { ChromeStoreExtension } from "@shoal/schemas";
import { createReadStream } from "node:fs";
import type { IncomingMessage } from "node:http";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as z from "zod/mini";
import { guardedRequest } from "../../host/guarded-request.ts";
import { maxArchiveBytes } from "./archive-rules.ts";
import { CrxError, verifyCrx } from "./crx.ts";

export interface ChromeStore {
  /**
   * Verifies the signature of the extension. @throws {ServiceError} 400 for a URL of another site, or an extension that
   * is too large; 404; 502 when the store does not answer, or its answer fails verification.
   */
  download(request: z.output<typeof ChromeStoreExtension>, signal: AbortSignal): Promise<BytesReply>;
}

const timeoutMs = 60_000;
/** The header of a package, in addition to its archive. */
const maxCrxBytes = maxArchiveBytes + 2 ** 20;
const maxRedirects = 5;
const storeHosts = new Set(["chromewebstore.google.com", "chrome.google.com"]);

function idIn(address: string): string {
  const url = URL.parse(address);
  const id =
    url !== null && /^https?:$/.test(url.protocol) && storeHosts.has(url.hostname)
      ? /\/([a-p]{32})(?:\/|$)/.exec(url.pathname)?.[1]
      : undefined;
  if (id !== undefined) return id;
  throw badInput("query.url", "is not the URL of an extension in the Chrome Web Store", {
    hint: "Copy it from the extension's page: https://chromewebstore.google.com/detail/<name>/<id of 32 letters>",
  });
}

function badGateway(problem: string, cause?: unknown): ServiceError {
  return new ServiceError(502, "bad_gateway", `The Chrome Web Store ${problem}.`, {
    hint: "Try again in a while.",
    cause,
  });
}

async function follow(rule: OutboundRule, first: URL, signal: AbortSignal): Promise<IncomingMessage> {
  let url = first;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const answer = await guardedRequest(rule, url, { signal });
    const { headers, statusCode = 0 } = answer;
    if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) return answer;
    answer.destroy();
    const next = URL.parse(headers.location, url);
    if (next === null || (next.protocol !== "https:" && next.protocol !== first.protocol))
      throw new TypeError("a redirect leads to an address that is not https");
    url = next;
  }
  throw new TypeError(`more than ${String(maxRedirects)} redirects`);
}

/**
 * @param baseUrl - of Google's update service, or a mirror.
 * @param rule - decides about it, and about every address to which it redirects.
 */
export function createChromeStore(baseUrl: string, rule: OutboundRule): ChromeStore {
  async function fetchPackage(id: string, os: string, signal: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(baseUrl);
    const wanted = {
      response: "redirect",
      os,
      arch: "x86-64",
      os_arch: "x86_64",
      nacl_arch: "x86-64",
      prod: "chromiumcrx",
      prodchannel: "stable",
      prodversion: "9999.0.9999.0",
      acceptformat: "crx3",
      x: `id=${id}&installsource=ondemand&uc`,
    };
    for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value);
    let answer: IncomingMessage;
    try {
      answer = await follow(rule, url, signal);
    } catch (error) {
      throw badGateway("did not answer", error);
    }
    const { statusCode: status = 0 } = answer;
    if (status === 200) return answer;
    answer.destroy();
    if (status === 204 || status === 404)
      throw new ServiceError(404, "not_found", `The Chrome Web Store has no extension ${id} for this system.`, {
        hint: "Check its URL; it may have been removed from the store.",
      });
    throw badGateway(`answered with status ${String(status)}`);
  }

  async function save(body: AsyncIterable<Uint8Array>, path: string): Promise<void> {
    const file = await open(path, "wx", 0o600);
    let size = 0;
    try {
      for await (const chunk of body) {
        size += chunk.length;
        if (size > maxCrxBytes)
          throw new ServiceError(
            400,
            "bad_request",
            `the extension is larger than ${String(maxArchiveBytes / 2 ** 20)} MiB, the upload limit.`,
            { field: "query.url" },
          );
        await file.writeFile(chunk);
      }
    } catch (error) {
      throw ServiceError.isInstance(error) ? error : badGateway("broke off", error);
    } finally {
      await file.close();
    }
  }

  return {
    async download({ url, os }, signal) {
      const id = idIn(url);
      const folder = await mkdtemp(join(tmpdir(), "shoal-crx-"));
      try {
        const path = join(folder, "package.crx");
        await save(await fetchPackage(id, os, anySignal([signal, AbortSignal.timeout(timeoutMs)])), path);
        const offset = await verifyCrx(path, id);
        const { size } = await stat(path);
        const stream = createReadStream(path, { start: offset });
        stream.once("close", () => void rm(folder, { recursive: true, force: true }));
        return { stream, sizeBytes: size - offset, fileName: `${id}.zip` };
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error instanceof CrxError
          ? badGateway(`sent an extension that failed verification: ${error.message}`, error)
          : error;
      }
    },
  };
}
