//! Scripted clients: recorded calls in their recorded order, each asked when the one before it is over.
//!
//! A script is an agent only while it lasts: the next one of a population waits at its door, and an agent that is done leaves
//! its slot to whoever comes next, so a world is as large as the most scripts that are under way at once.

use super::agenda::Kind;
use super::agent::{Agent, Slot};
use super::population::Cue;
use super::record::Record;
use super::turn::agent_call;
use super::{Cast, World};
use limiters::{Nanos, Stack};
use std::sync::Arc;
use traffic::clients::spec::Client;
use traffic::clients::{Paid, Scripts};
use traffic::draw::Numbered;

impl World {
    /// Puts the scripts of a population behind its door.
    pub(super) fn cue(&mut self, population: usize, client: &Client, scripts: &Arc<Scripts>, cast: &Cast) {
        let cue = Cue {
            scripts: Arc::clone(scripts),
            keys: cast.keys[population].clone(),
            offset: scripts.origin.map_or(0, |origin| origin.saturating_sub(cast.start)),
            draws: Numbered::new(cast.seed, "script", 0, &client.name),
            entered: 0,
        };
        self.populations[population].live += scripts.scripts.len() as u64;
        self.populations[population].cue = Some(cue);
        self.wait_at_door(population);
    }

    /// Puts the next start of a population on the agenda.
    fn wait_at_door(&mut self, population: usize) {
        let Some(cue) = &self.populations[population].cue else { return };
        let Some(next) = cue.scripts.scripts.get(cue.entered) else { return };
        let at = self.start.saturating_add(cue.offset).saturating_add(next.start);
        self.agenda.add(at, Kind::Enter, population as u32);
    }

    /// The next script of a population starts.
    pub(super) fn enter_script(&mut self, population: usize, at: Nanos, stack: &mut Stack, record: &mut Record<'_>) {
        let here = &mut self.populations[population];
        let quota = here.quota();
        let Some(cue) = &mut here.cue else { return };
        let script = cue.entered;
        cue.entered += 1;
        let draws = cue.draws.part(script as u64);
        let mut agent = Agent::new(population, draws, 0, at);
        (agent.quota, agent.script) = (quota, script as u32);
        let slot = match self.free.pop() {
            Some(slot) => {
                let place = self.slots[slot as usize].agent;
                self.slots[slot as usize] = Slot::new(place);
                self.agents[place as usize] = agent;
                slot
            }
            None => {
                self.slots.push(Slot::new(self.agents.len() as u32));
                self.agents.push(agent);
                self.slots.len() as u32 - 1
            }
        };
        self.tallies[population].agents += 1;
        self.wait_at_door(population);
        self.begin_step(slot, at, stack, Some(record));
    }

    /// Asks the next step of a script at `at`; see [`World::begin`].
    pub(super) fn begin_step(&mut self, index: u32, at: Nanos, stack: &mut Stack, record: Option<&mut Record<'_>>) {
        let slot = &mut self.slots[index as usize];
        let agent = &mut self.agents[slot.agent as usize];
        let population = &self.populations[agent.population];
        let Some(cue) = &population.cue else { return };
        let n = agent.turns;
        let steps = cue.scripts.of(&cue.scripts.scripts[agent.script as usize]);
        let Some(step) = usize::try_from(n).ok().and_then(|n| steps.get(n)) else { return self.retire(index) };
        agent.turns += 1;
        self.tallies[agent.population].turns += 1;
        slot.renew(n, &population.retry);
        agent.key = cue.keys.get(step.key as usize).copied().unwrap_or(0);
        slot.call = agent_call(agent.population, u64::from(agent.script) + 1, n);
        slot.permits = step.cost;
        slot.takes = step.takes;
        let [input, output, cache_read, cache_write] = step.tokens;
        slot.call_paid = Paid { microusd: step.microusd, input, output, cache_read, cache_write };
        match record {
            Some(record) => self.ask_tool(index, at, stack, record),
            None => self.agenda.add(at, Kind::Tool, index),
        }
    }

    /// A step is over: its wait passes, then comes the next; behind the last one the script is over at once.
    pub(super) fn next_step(&mut self, index: u32, at: Nanos) {
        let agent = &self.agents[self.slots[index as usize].agent as usize];
        let Some(cue) = &self.populations[agent.population].cue else { return };
        let steps = cue.scripts.of(&cue.scripts.scripts[agent.script as usize]);
        match steps.get(agent.turns as usize..) {
            Some([_, ..]) => {
                let wait = steps[agent.turns as usize - 1].wait;
                self.agenda.add(at.saturating_add(wait), Kind::Begin, index);
            }
            _ => self.retire(index),
        }
    }

    /// A slot does nothing any more; that of a script is for others to take.
    pub(super) fn retire(&mut self, index: u32) {
        let population = self.agents[self.slots[index as usize].agent as usize].population;
        let population = &mut self.populations[population];
        population.live -= 1;
        if population.cue.is_some() {
            self.free.push(index);
        }
    }
}
