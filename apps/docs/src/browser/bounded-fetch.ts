const streamMs = 5000;
const maxBytes = 1024 * 1024;

/** The page shows an answer only after its end: event streams end after five seconds, long texts after 1 MiB. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  const type = answer.headers.get("content-type") ?? "";
  if (answer.body === null || !/json|text/.test(type)) return answer;
  const isStream = type.startsWith("text/event-stream");
  const text = await readStart(answer.body, isStream ? streamMs : undefined);
  const { headers, status, statusText } = answer;
  return Object.defineProperty(new Response(text, { headers, status, statusText }), "url", { value: answer.url });
};

async function readStart(body: ReadableStream<Uint8Array>, maxMs: number | undefined): Promise<string> {
  const reader = body.getReader();
  const timer = maxMs === undefined ? undefined : setTimeout(() => void reader.cancel(), maxMs);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true });
      if (text.length > maxBytes) {
        await reader.cancel();
        return `${text.slice(0, maxBytes)}\n… The rest is not shown.`;
      }
    }
  } finally {
    clearTimeout(timer);
  }
  return text;
}
