import { type AnswerAbout, type DeskAnswer, type DeskQuestion, isAbout } from "../service/operator_desk.ts";

/** What crosses: questions and answers, told apart by their number. */
interface Asked {
  readonly id: number;
  readonly question: DeskQuestion;
}

type Answered =
  | { readonly id: number; readonly answer: DeskAnswer }
  | { readonly id: number; readonly failed: string };

/** The core gave no answer: it is busy, gone, or failed; the message is for the operator. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/** The supervisor's end of the link to a core's desk. */
export class DeskCaller {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (answered: Answered) => void>();
  #next = 1;
  #closed = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<Answered>) => this.#waiting.get(data.id)?.(data);
  }

  /** @throws {NoAnswer} */
  ask(question: DeskQuestion, withinMs: number): Promise<DeskAnswer> {
    if (this.#closed) return Promise.reject(new NoAnswer("the core has ended"));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const settle = (answered: Answered) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        if ("failed" in answered) reject(new NoAnswer(answered.failed));
        else resolve(answered.answer);
      };
      const timer = setTimeout(
        () => settle({ id, failed: `the core did not answer within ${withinMs / 1000} s` }),
        withinMs,
      );
      this.#waiting.set(id, settle);
      this.#port.postMessage({ id, question });
    });
  }

  /** Whether the core has ended. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The core ends: whoever waits for it is told. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#port.close();
    for (const [id, settle] of [...this.#waiting]) settle({ id, failed: "the core has ended" });
  }
}

/**
 * Asks, and takes the answer for what it must be.
 * @throws {NoAnswer}
 */
export async function ask<K extends DeskAnswer["about"]>(
  desk: Pick<DeskCaller, "ask">,
  question: DeskQuestion & { readonly about: K },
  withinMs: number,
): Promise<AnswerAbout<K>> {
  const answer = await desk.ask(question, withinMs);
  if (isAbout(answer, question.about)) return answer;
  throw new NoAnswer("the core answered another question");
}

/** The core's end. */
export function answerDesk(
  port: MessagePort,
  answer: (question: DeskQuestion) => Promise<DeskAnswer>,
): void {
  port.onmessage = async ({ data: { id, question } }: MessageEvent<Asked>) => {
    try {
      port.postMessage({ id, answer: await answer(question) });
    } catch (error) {
      port.postMessage({ id, failed: error instanceof Error ? error.message : String(error) });
    }
  };
}
