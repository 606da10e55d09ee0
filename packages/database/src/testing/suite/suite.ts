import { type Database, DatabaseError, openDatabase } from "../../index.ts";
import { recordingLog } from "../logs.ts";
import type { TestServer } from "../servers.ts";

const log = recordingLog();

export class DatabaseSuite {
  readonly #startServer: () => Promise<TestServer>;
  readonly #open: Database[] = [];
  #server: TestServer | undefined;

  constructor(startServer: () => Promise<TestServer>) {
    this.#startServer = startServer;
  }

  async start(): Promise<void> {
    this.#server = await this.#startServer();
  }

  get server(): TestServer {
    if (this.#server === undefined) throw new Error("The server was not started.");
    return this.#server;
  }

  async connect(url: string): Promise<Database> {
    const database = await openDatabase({ url, dataDir: "/nowhere", log });
    this.#open.push(database);
    return database;
  }

  async fresh(): Promise<Database> {
    return await this.connect(await this.server.createDatabase());
  }

  async closeDatabases(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((database) => database.close()));
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }
}

export async function refusal(url: string): Promise<DatabaseError> {
  const result = await openDatabase({ url, dataDir: "/nowhere", log }).catch((error: unknown) => error);
  if (DatabaseError.isInstance(result)) return result;
  throw result instanceof Error ? result : new Error("the database was opened");
}
