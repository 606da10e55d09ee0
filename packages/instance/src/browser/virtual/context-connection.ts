import { type CdpCommand, type CdpMessage, MessageConnection } from "../cdp/message-connection.ts";
import { ContextClient, type ContextClientOptions } from "./context-client.ts";

/** The instance's own connection for a session of a shared browser. The same rules apply to it as to clients. */
export class ContextConnection extends MessageConnection {
  readonly sharesClipboard = true;
  readonly #client: ContextClient;

  constructor(options: Pick<ContextClientOptions, "endpoint" | "scope">) {
    super();
    this.#client = new ContextClient({
      ...options,
      onMessage: (message) => {
        // From the gateway; `take` checks the fields.
        this.take(JSON.parse(message) as CdpMessage);
      },
      onClosed: () => {
        this.end();
      },
    });
  }

  close(): void {
    this.#client.close("the session ends");
  }

  protected override transmit(command: CdpCommand): void {
    this.#client.send(JSON.stringify(command));
  }
}
