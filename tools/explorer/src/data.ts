// Decodes the report that the file carries: base64 of gzip of JSON, or JSON itself.
import type { PageData } from "./types";

declare const DecompressionStream: new (format: string) => GenericTransformStream;

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function unpack(base64: string): Promise<string> {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream as ReadableStream).text();
}

/** Throws an Error whose message is for the reader of the page. */
export async function readData(text: string): Promise<PageData> {
  const trimmed = text.trim();
  const json = trimmed.startsWith("{") ? trimmed : await unpack(trimmed);
  const data = JSON.parse(json) as PageData;
  if (data.schema !== "tenon.explore.page" || data.version !== 1) {
    throw new Error(`this page shows tenon.explore.page 1, not ${data.schema} ${data.version}`);
  }
  return data;
}
