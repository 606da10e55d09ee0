/**
 * Minor versions of Playwright 1 whose clients `browser.bind` of the bundled playwright-core serves: from the first with
 * shared contexts to its own.
 */
export const playwrightMinors = { oldest: 59, newest: 65 } as const;
