/** Which fault the next connection meets. */
export class FaultPlan<Fault> {
  /** Met by every connection while it is set. */
  always: Fault | undefined;
  /** Met by the next connections, one each, before `always`; `undefined` lets one pass. */
  readonly queue: (Fault | undefined)[] = [];
  /** Met by the latest connection. */
  current: Fault | undefined;

  /** Takes the fault of a new connection. */
  next(): Fault | undefined {
    this.current = this.queue.length > 0 ? this.queue.shift() : this.always;
    return this.current;
  }
}
