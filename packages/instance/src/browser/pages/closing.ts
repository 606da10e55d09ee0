/** Pages that are about to close: a page, those of a browser context, or without an id those of every separate context. */
export interface Closing {
  readonly targetId?: string;
  readonly contextId?: string;
}

/** Called before pages close. They wait for the promise, which never rejects. */
export type BeforeClose = (closing: Closing) => Promise<void> | undefined;
