"""What all experiments share: data sets, models, stored cells, intervals, and one look for all figures."""
