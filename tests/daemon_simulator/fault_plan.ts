/** Faults of the next connections. */
export class FaultPlan<Fault> {
  /** Fault of every connection while it is set. */
  always: Fault | undefined;
  /**
   * Faults of the next connections, in order, before `always`; `undefined` is a connection without a fault.
   */
  readonly queue: (Fault | undefined)[] = [];
  /** Fault of the latest connection. */
  current: Fault | undefined;

  /** Takes the fault of a new connection. */
  next(): Fault | undefined {
    this.current = this.queue.length > 0 ? this.queue.shift() : this.always;
    return this.current;
  }
}
