import { HeaderList, type HttpResponse } from "../model/http_message.ts";
import { type ResponseFacts, textResponse } from "./text_response.ts";

const MAX_WHOLE = 64 * 1024; // characters of an answer sent whole, with its length
const PIECE = 8 * 1024; // characters; small, so that many unread answers do not fill the memory

interface Unread {
  readonly bytes: number;
  readonly drop: () => void;
}

/** Bounds the memory of unread answers: beyond the bound, aborts the answer that was idle longest. */
export class UnreadAnswers {
  readonly #unread = new Set<Unread>(); // in order of the last read
  #bytes = 0;

  constructor(readonly most = 32 * 1024 * 1024) {}

  get bytes(): number {
    return this.#bytes;
  }

  add(unread: Unread): void {
    this.#unread.add(unread);
    this.#bytes += unread.bytes;
    for (const oldest of this.#unread) {
      if (this.#bytes <= this.most || oldest === unread) break;
      this.delete(oldest);
      oldest.drop();
    }
  }

  /** Records that the client has read from the answer. */
  touch(unread: Unread): void {
    if (this.#unread.delete(unread)) this.#unread.add(unread);
  }

  delete(unread: Unread): void {
    if (this.#unread.delete(unread)) this.#bytes -= unread.bytes;
  }
}

interface LongText {
  readonly pieces: Iterable<string> | AsyncIterable<string>; // produced on demand
  readonly type: string;
  readonly bytes: number; // approximate memory held by the pieces until they are produced
}

/** Returns an answer, a long one on demand. @throws Errors of the first pieces, while the status can still change. */
export async function longTextResponse(
  { pieces, type, bytes }: LongText,
  unread: UnreadAnswers,
  facts: ResponseFacts = {},
): Promise<HttpResponse> {
  const source = iteratorOf(pieces);
  const { text: start, ended } = await collect(source, MAX_WHOLE);
  if (ended) return textResponse(start, type, facts);
  const { status = 200, headers } = facts;
  return {
    status,
    headers: HeaderList.of({ ...headers, "Content-Type": type }),
    body: streamOf(start, source, { bytes, unread }),
  };
}

function streamOf(
  start: string,
  source: AsyncIterator<string>,
  { bytes, unread }: Pick<LongText, "bytes"> & { readonly unread: UnreadAnswers },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let over = false;
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  let waiting = start;
  const end = async (complete: boolean) => {
    over = true;
    waiting = "";
    unread.delete(held);
    if (!complete) await source.return?.();
  };
  const drop = () => {
    controller?.error(new Error("not read for too long, and the memory is needed"));
    void end(false);
  };
  const held: Unread = { bytes: bytes + start.length * 2, drop };
  unread.add(held);
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (own) => void (controller = own),
    async pull(own) {
      unread.touch(held);
      try {
        if (waiting.length < PIECE) {
          const { text, ended } = await collect(source, PIECE);
          waiting += text;
          if (ended && waiting === "") {
            await end(true);
            own.close();
            return;
          }
        }
        const splitsPair = waiting.length > PIECE && (waiting.charCodeAt(PIECE - 1) & 0xfc00) === 0xd800;
        const cut = splitsPair ? PIECE + 1 : PIECE;
        const piece = encoder.encode(waiting.slice(0, cut));
        waiting = waiting.slice(cut);
        own.enqueue(piece);
      } catch (error) {
        if (!over) own.error(error);
        await end(false);
      }
    },
    cancel: () => end(false),
  }, { highWaterMark: 0 });
}

async function collect(
  source: AsyncIterator<string>,
  characters: number,
): Promise<{ readonly text: string; readonly ended: boolean }> {
  let text = "";
  while (text.length <= characters) {
    const { done, value } = await source.next();
    if (done === true) return { text, ended: true };
    text += value;
  }
  return { text, ended: false };
}

async function* iteratorOf(pieces: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string, void> {
  yield* pieces;
}
