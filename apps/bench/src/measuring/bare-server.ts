import { spawn } from "node:child_process";

export interface BareServer {
  readonly pid: number;
  readonly url: string;
  stop(): void;
}

const script = `
  const answers = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  const chunk = Buffer.alloc(65536, "x");
  const events = Buffer.from(answers.events ?? "");
  require("node:http").createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://x");
    if (request.method === "PUT") {
      request.on("data", () => undefined).on("end", () => response.writeHead(201).end());
      return;
    }
    request.resume();
    const send = (type, piece, times) => {
      response.writeHead(200, { "content-type": type, ...(times > 0 && { "content-length": piece.length * times }) });
      let left = times;
      const more = () => {
        while (left-- > 0) if (!response.write(piece)) return;
        response.end();
      };
      response.on("drain", more);
      more();
    };
    if (pathname.endsWith("/read_file")) send("application/octet-stream", chunk, Number(searchParams.get("path").slice(1)) / chunk.length);
    else if (pathname.endsWith("/telemetry/stream") || pathname.endsWith("/events")) send("text/event-stream", events, answers.repeat);
    else {
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answers.json) });
      response.end(answers.json);
    }
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

/**
 * Answers every GET with `json`, `…/events` and `…/telemetry/stream` with repeated `events`, and `…/read_file?path=/N`
 * with N bytes (a multiple of 65536). Reads and drops the body of a PUT.
 */
export async function startBareServer(answers: {
  readonly json?: string;
  readonly events?: string;
  readonly repeat?: number;
}): Promise<BareServer> {
  const child = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify({ json: "{}", repeat: 1, ...answers }));
  const port = await new Promise<string>((resolve) =>
    child.stdout.setEncoding("utf8").once("data", (text: string) => {
      resolve(text.trim());
    }),
  );
  if (child.pid === undefined) throw new Error("The bare server did not start.");
  return { pid: child.pid, url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}
