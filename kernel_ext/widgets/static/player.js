// @ts-check
/**
 * A toolbar that goes through steps: play, to the ends, one on, one back, a slider.
 */

import { make, markPlaying, press } from "./parts.js";

const PACE = 500; // milliseconds of a step that plays

/** @param {string} what what the steps are of @param {{now: () => number, last: () => number, go: (step: number) => void}} steps */
export function stepPlayer(what, { now, last, go }) {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let playing;
  const slider = /** @type {HTMLInputElement} */ (make("input", { type: "range", min: 0, step: 1, "aria-label": `Step of ${what}` }));
  const play = press("", "Play", () => (playing ? stop() : start()));
  markPlaying(play, false);
  const stop = () => {
    clearInterval(playing);
    playing = undefined;
    markPlaying(play, false);
  };
  const start = () => {
    if (now() === last()) go(0);
    playing = setInterval(() => (play.isConnected && now() < last() ? go(now() + 1) : stop()), PACE);
    markPlaying(play, true);
  };
  slider.addEventListener("input", () => go(Number(slider.value)));
  return {
    stop,
    tools: make("span", { class: "wb-tools", role: "toolbar", "aria-label": `Steps of ${what}` }, play,
      press("|←", "First step", () => go(0)), press("←", "Step back", () => go(now() - 1)), press("→", "Step", () => go(now() + 1)),
      press("→|", "Last step", () => go(last())), slider),
    /** Show where it is, in words for a screen reader. @param {string} said */
    tell(said) {
      [slider.max, slider.value] = [String(last()), String(now())];
      slider.setAttribute("aria-valuetext", said);
    },
  };
}
