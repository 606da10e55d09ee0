import { Agent, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";

/** Calls with little CPU in the caller, because the caller shares the machine with the server. */
export class KeyedCalls {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #baseUrl: string;
  readonly #key: string;

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  /** @throws {Error} for a status other than 2xx. */
  send(method: string, path: string, body?: object): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.#key}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      };
      const outgoing = httpRequest(this.#baseUrl + path, { agent: this.#agent, method, headers }, (answer) => {
        text(answer).then((said) => {
          if ((answer.statusCode ?? 0) < 300) resolve(said);
          else reject(new Error(`${method} ${path}: ${String(answer.statusCode)} ${said}`));
        }, reject);
      });
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async create(): Promise<string> {
    const session = JSON.parse(await this.send("POST", "/browsers", { timeout_seconds: 3600 })) as {
      session_id: string;
    };
    return session.session_id;
  }

  async end(id: string): Promise<void> {
    await this.send("DELETE", `/browsers/${id}`);
  }

  /** @param atOnce - calls of `work` at the same time. */
  async many<T>(count: number, atOnce: number, work: (index: number) => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    let next = 0;
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (next < count) {
          const index = next++;
          results[index] = await work(index);
        }
      }),
    );
    return results;
  }
}
