import { type AdminAnswer, type AdminRequest, AdminRequestFailed } from "../resource/admin/admin_request.ts";

/** A core's reply to one admin request; the text of a failure is for the operator. */
export type AdminReply =
  | { readonly id: number; readonly answer: AdminAnswer }
  | { readonly id: number; readonly failed: string };

/** Error for a core that is busy, gone or failed; the message is for the operator. */
export class NoAnswer extends AdminRequestFailed {}

/** Admin requests of the supervisor to one core that have no reply yet. */
export class AdminCalls {
  readonly #pending = new Map<number, (reply: AdminReply) => void>();
  #next = 1;
  #closed = false;

  constructor(readonly send: (id: number, request: AdminRequest) => void) {
  }

  /** @throws {NoAnswer} */
  call(request: AdminRequest, withinMs: number): Promise<AdminAnswer> {
    if (this.#closed) return Promise.reject(new NoAnswer("the core has ended"));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const settle = (reply: AdminReply) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        if ("failed" in reply) reject(new NoAnswer(reply.failed));
        else resolve(reply.answer);
      };
      const timer = setTimeout(
        () => settle({ id, failed: `the core did not answer within ${withinMs / 1000} s` }),
        withinMs,
      );
      this.#pending.set(id, settle);
      this.send(id, request);
    });
  }

  settle(reply: AdminReply): void {
    this.#pending.get(reply.id)?.(reply);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Fails all pending calls, since the core has ended. */
  close(): void {
    this.#closed = true;
    for (const [id, settle] of [...this.#pending]) settle({ id, failed: "the core has ended" });
  }
}
