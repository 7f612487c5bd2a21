// Sounds of the game, made by the browser itself; off unless the settings say otherwise.

import { pref } from "./prefs.js";

/** @type {AudioContext | null} */
let audio = null;

/**
 * Sound notes one after the other.
 * @param {number[]} notes frequencies in Hz
 * @param {{ seconds?: number, volume?: number }} [options] of each note
 */
function play(notes, { seconds = 0.09, volume = 0.12 } = {}) {
  if (pref("sound") !== "on") return;
  audio ??= new AudioContext();
  const begin = audio.currentTime;
  notes.forEach((frequency, i) => {
    if (!audio) return;
    const tone = audio.createOscillator();
    const gain = audio.createGain();
    const at = begin + i * seconds;
    tone.type = "triangle";
    tone.frequency.value = frequency;
    gain.gain.setValueAtTime(0, at);
    gain.gain.linearRampToValueAtTime(volume, at + 0.01);
    gain.gain.exponentialRampToValueAtTime(0.001, at + 2 * seconds);
    tone.connect(gain).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 2 * seconds);
  });
}

const SCALE = [0, 2, 4, 7, 9]; // five notes of an octave, in semitones: any two sound well together

/**
 * The frequency of a tile: the larger, the higher.
 * @param {number} rank
 */
function pitch(rank) {
  const step = rank - 1;
  return 196 * 2 ** (Math.floor(step / SCALE.length) + SCALE[step % SCALE.length] / 12);
}

export const sounds = {
  slide: () => play([110], { volume: 0.04, seconds: 0.04 }),
  /** @param {number} rank of the largest tile that was made */
  merge: (rank) => play([pitch(rank)]),
  /** @param {number} rank */
  milestone: (rank) => play([pitch(rank), pitch(rank + 2), pitch(rank + 4)]),
  won: () => play([392, 494, 587, 784], { seconds: 0.14 }),
  over: () => play([294, 247, 196], { seconds: 0.18, volume: 0.09 }),
};
